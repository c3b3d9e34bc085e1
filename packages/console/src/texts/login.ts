export const login = {
  title: "Log in",
  name: "Name",
  password: "Password",
  code: "One-time code",
  codeHint: "From your authenticator app, or one of your recovery codes.",
  submit: "Log in",
  startAgain: "Log in as another person",
  issuer: (host: string) => `Log in with ${host}`,
  problems: {
    failed: "The log-in did not complete. Try again.",
    unavailable: "The service that checks your log-in does not answer. Try again later.",
    too_many_attempts: "Too many log-ins have failed. Try again in 15 minutes.",
    not_recent: "The service that checks your log-in last asked for it too long ago. Log out there, and try again.",
    no_role: "Your log-in was right, but it has no role for topupd. Ask an administrator for one.",
    no_name: "Your log-in was right, but it has no name that topupd can show. Ask an administrator.",
    name_taken: "Another account of topupd has your name. Ask an administrator.",
  },
} as const;
