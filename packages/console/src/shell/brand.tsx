import icon from "../icon.svg";
import { texts } from "../texts/index.ts";

export function Brand() {
  return (
    <span className="brand">
      <img src={icon} alt="" width={26} height={26} />
      {texts.common.product}
    </span>
  );
}
