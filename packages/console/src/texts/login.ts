export const login = {
  title: "Log in",
  name: "Name",
  password: "Password",
  code: "One-time code",
  codeHint: "From your authenticator app, or one of your recovery codes.",
  submit: "Log in",
  startAgain: "Log in as another person",
} as const;
