import qrcode from "qrcode-generator";

/** Blank modules around it, as readers need them. */
const QUIET = 4;

/** A text as a QR code. It is dark on white in both themes: not every reader takes the reverse. */
export function QrCode({ of, label }: { of: string; label: string }) {
  const code = qrcode(0, "M");
  code.addData(of);
  code.make();
  const count = code.getModuleCount();
  const modules = Array.from(
    { length: count * count },
    (_, index) => [index % count, Math.floor(index / count)] as const,
  );
  const dark = modules.filter(([column, row]) => code.isDark(row, column));
  const size = count + 2 * QUIET;
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.map(([column, row]) => `M${column + QUIET} ${row + QUIET}h1v1h-1z`).join("")} fill="#000" />
    </svg>
  );
}
