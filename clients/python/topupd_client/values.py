"""Values of both versions of the interface. Amounts are decimal text such as "2847.15", timestamps are unchanged."""

from dataclasses import dataclass, field
from typing import Annotated, Generic, Mapping, Optional, Sequence, TypeVar

# Kinds of text: what can be empty, an amount, and an amount that can be negative, such as "-1107.4".
Text = Annotated[str, "text"]
Amount = Annotated[str, "amount"]
Signed = Annotated[str, "signed"]


@dataclass(frozen=True)
class Purchase:
    """A paid bouquet for one connection. Save it before you send the top-up."""

    cuid: str
    service: str  # "tv", "internet" or "iptv"
    req_id: str
    checkout_id: str
    bouquet_id: str  # The code of a bouquet in the listing.
    amt: str  # The bouquet's price.
    udf1: Optional[str] = None  # A text of your own, up to 30 characters; v1.0.1 only.
    udf2: Optional[str] = None


@dataclass(frozen=True)
class Connection:
    req_id: str  # The set-top box number of a tv connection, the username of the others.
    status: str


@dataclass(frozen=True)
class Customer:
    cuid: str
    first_name: str = field(repr=False)  # Names stay out of logs.
    last_name: str = field(repr=False)
    status: str
    connections: Mapping[str, Sequence[Connection]] = field(default_factory=dict)  # Keyed by service; empty in a listing.


@dataclass(frozen=True)
class Subscription:
    code: str
    name: Text
    startdate: Text
    enddate: Text


@dataclass(frozen=True)
class Bouquet:
    code: str  # The bouquet_id of a top-up.
    name: str
    price: str  # The amt of a top-up.


@dataclass(frozen=True)
class PackageListing:
    checkout_id: str  # Valid for one top-up within five minutes.
    customer: Customer
    service: str
    connection: Connection
    subscriptions: Sequence[Subscription]
    bouquets: Sequence[Bouquet]


@dataclass(frozen=True)
class TransactionResult:
    order_id: str  # The checkout_id.
    txn_id: str
    cuid: str
    req_id: str
    bouquet_id: str
    amt: Amount
    txn_date: Text
    status: str  # "success", or "reversed" if the provider has reversed the top-up.
    service: str


@dataclass(frozen=True)
class OwnTopUp(TransactionResult):
    """A top-up in the list of your own."""

    commission: Amount  # The part of amt that you keep.
    reversed_at: Optional[Text]  # None if it is not reversed.
    udf1: Optional[Text]
    udf2: Optional[Text]


@dataclass(frozen=True)
class AccountEntry:
    at: str
    kind: str  # deposit, withdrawal, adjustment, top_up or reversal.
    amount: Signed  # The effect on the balance: negative for a top-up.
    balance: Signed  # The balance after it.
    reference: Optional[Text]  # The provider's reference; None for top-ups and reversals.
    txn_id: Optional[Text]  # The top-up and its amounts; None for other entries.
    order_id: Optional[Text]
    gross: Optional[Amount]
    commission: Optional[Amount]


@dataclass(frozen=True)
class CommissionRule:
    service: Optional[Text]  # None: all services.
    bouquet_id: Optional[Text]  # None: all bouquets.
    percent: Optional[Amount]  # Percent of amt; None if the amount is fixed.
    fixed: Optional[Amount]
    from_: str  # The first day of the rule.


@dataclass(frozen=True)
class AccountLimits:
    """None: no limit."""

    top_up_amount: Optional[Amount]
    day_amount: Optional[Amount]
    day_top_ups: Optional[int]
    rate: int  # Calls a second in the long run.
    burst: int  # Calls at once.
    new_look_ups: Optional[int]  # Look-ups an hour: customers whom you never topped up, unknown and ambiguous codes.


@dataclass(frozen=True)
class Account:
    """Your account in the environment of the access token."""

    balance: Signed  # Negative if you owe.
    credit_limit: Optional[Amount]  # None if there is no limit.
    available: Optional[Signed]  # Balance and credit limit together; None if there is no limit.
    currency: Optional[Text]
    commission: Sequence[CommissionRule]  # The rules in force today. The most specific rule counts.
    limits: AccountLimits


@dataclass(frozen=True)
class Failure:
    """Why a call has no value. It never contains the access token, and `repr` shows no customer."""

    # refused (a failure that topupd documents), refused_otherwise (a refusal in an unknown form), used_otherwise (the
    # checkout_id was used for another purchase), unsettled (a result with an unknown status), no_answer (the request
    # may have been carried out), or unreadable (an answer that cannot be trusted).
    kind: str
    operation: str
    message: str  # A sentence for the log. Its wording may change.
    http_status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)  # The useful ones, by their lower-case names.
    request_id: Optional[str] = None  # Tell it the provider's support.
    retry_after_ms: int = 0  # Milliseconds that the deployment asks to wait.
    code: Optional[str] = None
    reason: Optional[str] = None
    retry: Optional[str] = None  # The next action: fix_request, same_request, new_checkout, query_status or no.
    fields: object = None  # All problems of the request, if the reason is invalid_field.
    missing: Optional[str] = None  # The amount that your account lacks, if the reason is insufficient_balance.
    limit: object = None  # If the reason is limit_reached: top_up_amount, day_amount, day_top_ups or paid_ahead.
    limit_ends_at: object = None  # YYYY-MM-DD HH:MM:SS by the provider's clock, if time ends that limit.
    in_envelope: bool = False  # Whether a refusal comes from the deployment, not from a proxy.
    body: object = field(default=None, repr=False)  # The JSON, or the first 4,000 characters of the text.
    recorded: Optional[TransactionResult] = None
    differs: Sequence[str] = ()  # Fields that differ between the recorded top-up and the purchase.
    why: Optional[str] = None  # Reason of no_answer: timeout or network.
    cause: Optional[str] = None


Value = TypeVar("Value")


@dataclass(frozen=True)
class Listed(Generic[Value]):
    """All pages of a list."""

    items: Sequence[Value]
    opening: Optional[str] = None  # The balance before the first entry; None in a list of top-ups.


@dataclass(frozen=True)
class Answer(Generic[Value]):
    value: Optional[Value] = None
    failure: Optional[Failure] = None  # None if there is a value.
    request_id: Optional[str] = None  # Tell it the provider's support.
    replayed: bool = False  # Whether an earlier request recorded this, according to the deployment.


@dataclass(frozen=True)
class Next:
    """The next action for an undecided top-up."""

    # query_again (call top_up with the same purchase and `resumed=True`, after `after_ms`), fix_request (fix the access
    # token or the IP address, then do the same), or ask_provider (no program can decide it).
    do: str
    checkout_id: str
    after_ms: int


@dataclass(frozen=True)
class TopUpOutcome:
    # topped_up (recorded, as `result`: check its status), refused (nothing was recorded for this purchase),
    # never_topped_up (nothing was, and nothing ever will be), or undecided (do not return the money, and do not use
    # another checkout_id: do what `next` says).
    outcome: str
    result: Optional[TransactionResult] = None
    replayed: bool = False  # Whether it was recorded before this answer: a repeat, or found by txn-status.
    failure: Optional[Failure] = None
    next: Optional[Next] = None
