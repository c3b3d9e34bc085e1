import type { Connection } from "../../api/staff-api.d.ts";
import { useCorrection } from "../../api/use-correction.ts";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { Badge, BeforeAfter } from "../../components/display.tsx";
import { Previewed } from "../../components/previewed.tsx";
import { useEnvironment } from "../../shell/environment.tsx";
import { useToast } from "../../shell/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { connectionName } from "./connection-badge.tsx";

const t = texts.customers;

interface BlockDialogProps {
  readonly cuid: string;
  readonly connection: Connection;
  readonly onClose: () => void;
}

/** Blocks a connection, or unblocks one that staff have blocked. */
export function BlockDialog({ cuid, connection, onClose }: BlockDialogProps) {
  const { service, reqId } = connection;
  const isBlocked = connection.blockedByStaff !== null;
  const environment = useEnvironment();
  const toast = useToast();
  const block = useCorrection("POST /customers/:cuid/block", {
    environment,
    cuid,
    service,
    reqId,
    blocked: !isBlocked,
  });
  const name = connectionName(connection);
  const action = isBlocked ? t.unblock : t.block;
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={t.of(action, name)}
      description={isBlocked ? t.unblockText : t.blockText}
      confirm={action}
      danger={!isBlocked}
      reason
      disabled={!block.isReady || block.effect?.changed === false}
      onConfirm={async (reason) => {
        const { blocked } = await block.commit(reason);
        toast(blocked ? t.blocked(name) : t.unblocked(name));
      }}
    >
      <Previewed of={block}>
        {({ blocked, changed }) =>
          changed ? (
            <BeforeAfter before={<BlockBadge blocked={!blocked} />} after={<BlockBadge blocked={blocked} />} />
          ) : (
            <p>{t.noChange}</p>
          )
        }
      </Previewed>
    </ConfirmDialog>
  );
}

function BlockBadge({ blocked }: { blocked: boolean }) {
  return blocked ? <Badge tone="danger">{t.blockedByStaff}</Badge> : <Badge tone="success">{t.notBlocked}</Badge>;
}
