import { useState } from "react";
import { useLocation } from "wouter";
import { usePreview, useSend } from "../../api/hooks.ts";
import type { ApiProblem } from "../../api/problem.ts";
import type { Input, Service } from "../../api/request.ts";
import type { Bouquet, CatalogueChange } from "../../api/staff-api.d.ts";
import { Button } from "../../components/button.tsx";
import { Select, TextArea, TextInput } from "../../components/controls.tsx";
import { ActionDialog, Dialog, whyNot } from "../../components/dialog.tsx";
import { useEnvironment } from "../../components/environment.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { ErrorNote, Loading, Note } from "../../components/states.tsx";
import { useToast } from "../../components/toasts.tsx";
import { texts } from "../../texts/index.ts";
import { CatalogueDiff, isSame, LargeChange } from "./diff.tsx";
import { TermsFields, termsOf } from "./waiting.tsx";

const t = texts.catalogue;

type Edit = Input<"PUT /catalogue/bouquets/:code">;

interface BouquetDialogProps {
  /** Undefined to add one. */
  readonly bouquet: Bouquet | undefined;
  /** The newest revision, 0 if there is none. If another is published after the review, publishing is refused. */
  readonly baseRevision: number;
  readonly onClose: () => void;
}

/** Edits or adds a bouquet: the form, then what it changes. */
export function BouquetDialog({ bouquet, baseRevision, onClose }: BouquetDialogProps) {
  const [reviewed, setReviewed] = useState<{ edit: Edit; change: CatalogueChange }>();
  const [isEditing, setEditing] = useState(true);
  const [isRemoving, setRemoving] = useState(false);
  const environment = useEnvironment();
  const send = useSend("PUT /catalogue/bouquets/:code");
  const toast = useToast();

  if (isRemoving && bouquet !== undefined)
    return <RemoveDialog bouquet={bouquet} baseRevision={baseRevision} onClose={onClose} />;
  const review = async (values: FormValues) => {
    const edit = { ...editOf(values, bouquet), environment, baseRevision };
    setReviewed({ edit, change: await send.mutateAsync({ ...edit, preview: true }) });
    setEditing(false);
  };
  return (
    <Dialog title={bouquet === undefined ? t.add : t.editTitle(bouquet.code)} onClose={onClose}>
      {isEditing || reviewed === undefined ? (
        <Form
          key="fields"
          submit={t.review}
          onSubmit={review}
          actions={
            bouquet === undefined ? (
              <Button onClick={onClose}>{texts.common.cancel}</Button>
            ) : (
              <Button onClick={() => setRemoving(true)}>{t.takeOff}</Button>
            )
          }
        >
          <BouquetFields bouquet={bouquet} edit={reviewed?.edit} />
        </Form>
      ) : (
        <Form
          key="review"
          submit={t.publishConfirm}
          why={isSame(reviewed.change) ? texts.common.whyNot.changesNothing : undefined}
          onSubmit={async (values) => {
            toast(t.done(await send.mutateAsync({ ...reviewed.edit, ...termsOf(values) })));
            onClose();
          }}
          actions={<Button onClick={() => setEditing(true)}>{t.back}</Button>}
        >
          {bouquet === undefined && reviewed.change.added === 0 && (
            <Note tone="warning">{t.isSold(reviewed.edit.code)}</Note>
          )}
          <Review change={reviewed.change} />
          <TermsFields />
        </Form>
      )}
    </Dialog>
  );
}

/** @param edit values that were typed before. */
function BouquetFields({ bouquet, edit }: { bouquet: Bouquet | undefined; edit: Edit | undefined }) {
  const { service, code, name, price, segments, plan } = { ...bouquet, ...edit };
  return (
    <>
      {bouquet === undefined && (
        <>
          <Field name="service" label={t.service}>
            <Select options={Object.entries(texts.common.services)} defaultValue={service} />
          </Field>
          <Field name="code" label={t.code} hint={t.codeHint}>
            <TextInput required maxLength={64} defaultValue={code} autoCapitalize="none" />
          </Field>
        </>
      )}
      <Field name="name" label={t.name} hint={t.nameHint}>
        <TextInput required maxLength={200} defaultValue={name} />
      </Field>
      <Field name="price" label={t.price}>
        <TextInput required inputMode="decimal" maxLength={40} defaultValue={price} />
      </Field>
      <Field name="plan" label={t.plan} hint={bouquet === undefined ? t.newPlanHint : t.planHint}>
        <TextInput required={bouquet !== undefined} maxLength={200} defaultValue={plan} />
      </Field>
      <Field name="segments" label={t.segments} hint={t.segmentsHint}>
        <TextArea rows={2} defaultValue={segments?.join("\n")} />
      </Field>
    </>
  );
}

function editOf(values: FormValues, bouquet: Bouquet | undefined) {
  const lines = values.text("segments").split("\n");
  return {
    service: bouquet?.service ?? (values.text("service") as Service),
    code: bouquet?.code ?? values.text("code"),
    name: values.text("name"),
    price: values.text("price"),
    plan: values.optional("plan"),
    segments: lines.map((line) => line.trim()).filter((line) => line !== ""),
  };
}

interface RemoveDialogProps {
  readonly bouquet: Bouquet;
  readonly baseRevision: number;
  readonly onClose: () => void;
}

function RemoveDialog({ bouquet: { service, code }, baseRevision, onClose }: RemoveDialogProps) {
  const input = { service, code, baseRevision, environment: useEnvironment() };
  const preview = usePreview("DELETE /catalogue/bouquets/:code", input);
  const send = useSend("DELETE /catalogue/bouquets/:code");
  return (
    <ActionDialog
      title={t.takeOffTitle(code)}
      description={t.takeOffText}
      submit={t.takeOffConfirm}
      danger
      why={whyNot(true, preview.error, preview.isFetching ? undefined : preview.data)}
      onSubmit={async (values) => ({ toast: t.done(await send.mutateAsync({ ...input, ...termsOf(values) })) })}
      onClose={onClose}
    >
      <Review change={preview.data} error={preview.error} />
      <TermsFields />
    </ActionDialog>
  );
}

interface RestoreDialogProps {
  readonly revision: number;
  readonly baseRevision: number;
  readonly onClose: () => void;
}

/** Publishes an earlier revision again. */
export function RestoreDialog({ revision, baseRevision, onClose }: RestoreDialogProps) {
  const [isAllowed, setAllowed] = useState(false);
  const [, navigate] = useLocation();
  const input = { revision, baseRevision };
  // The preview shows a large change; publishing asks about it.
  const preview = usePreview("POST /catalogue/revisions/:revision/restore", { ...input, allowLargeChange: true });
  const { data: change, error, isFetching } = preview;
  const send = useSend("POST /catalogue/revisions/:revision/restore");
  const needsLeave = change !== undefined && change.largeChange !== null && !isAllowed;
  return (
    <ActionDialog
      title={t.restoreTitle(revision)}
      description={t.publishText}
      submit={t.publishConfirm}
      why={
        whyNot(true, error, isFetching ? undefined : change, isSame) ??
        (needsLeave ? texts.common.whyNot.allowLargeChange : undefined)
      }
      onSubmit={async (values) => {
        const more = { allowLargeChange: isAllowed || undefined, ...termsOf(values) };
        const done = await send.mutateAsync({ ...input, ...more });
        navigate("/catalogue");
        return { toast: t.done(done) };
      }}
      onClose={onClose}
    >
      {change !== undefined && error === null && (
        <LargeChange change={change} isAllowed={isAllowed} onAllow={setAllowed} />
      )}
      <Review change={change} error={error} />
      <TermsFields />
    </ActionDialog>
  );
}

/** The effect of an edit. @param change undefined until it is loaded. */
function Review({ change, error = null }: { change: CatalogueChange | undefined; error?: ApiProblem | null }) {
  if (error !== null) return <ErrorNote error={error} />;
  if (change === undefined) return <Loading />;
  if (isSame(change)) return <Note tone="success">{t.sameEdit}</Note>;
  return <CatalogueDiff change={change} narrow />;
}
