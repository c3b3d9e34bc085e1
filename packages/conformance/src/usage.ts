/** An option somebody may have meant, and nothing that looks like a value. */
const NAME = /^--[a-z][a-z-]{0,15}$/;

/**
 * What commander says of a wrong command line, without the values that it repeats: a token may stand in a wrong place.
 */
export function withoutValues(text: string): string {
  return text
    .replace(/unknown option '([\s\S]*)'/, (_, typed: string) => {
      const [name = ""] = typed.split("=");
      return NAME.test(name) ? `unknown option '${name}'` : "unknown option";
    })
    .replace(/ argument '[\s\S]*' is invalid/, " argument is invalid")
    .replace(/unknown command '[\s\S]*'/, "unknown command");
}

/** Where the kit broke down, without the message: that may repeat what a service has said. */
export function describeBreakdown(error: unknown): string {
  const { name, stack } = error instanceof Error ? error : { name: "an error of no kind", stack: "" };
  const places = (stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));
  return [`conformance: the kit itself broke down, which says nothing of the service: ${name}`, ...places, ""].join(
    "\n",
  );
}
