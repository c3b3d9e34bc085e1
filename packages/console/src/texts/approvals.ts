export const approvals = {
  waits: (by: string, age: string, amount: string, cuid: string) =>
    `${by} asked ${age} to reverse ${amount} of customer ${cuid}:`,
  see: "See the top-up",
  own: "Another person must confirm it.",
  confirm: "Confirm",
  confirmTitle: "Confirm the reversal",
  confirmed: "Confirmed: the top-up is reversed.",
  refuse: "Refuse",
  withdraw: "Withdraw",
  refuseTitle: "Refuse the reversal",
  withdrawTitle: "Withdraw the request",
  refuseText: "The top-up stays. The reversal can be requested again.",
  refused: "The top-up stays.",
  wasRefused: (by: string, reason: string) => `${by} refused to confirm its reversal: ${reason}`,
} as const;
