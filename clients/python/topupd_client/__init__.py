"""A client of the Subscription Top-up Service Interface. A top-up is safe when its answer is lost."""

from .client import Client
from .transport import Transport, send
from .values import Account, AccountEntry, AccountLimits, Answer, Bouquet, CommissionRule, Connection, Customer, Failure
from .values import Listed, Next, OwnTopUp, PackageListing, Purchase, Subscription, TopUpOutcome, TransactionResult
from .waits import Clock

__version__ = "0.1.0"
__all__ = ["Account", "AccountEntry", "AccountLimits", "Answer", "Bouquet", "Client", "Clock", "CommissionRule"]
__all__ += ["Connection", "Customer", "Failure", "Listed", "Next", "OwnTopUp", "PackageListing", "Purchase"]
__all__ += ["Subscription", "TopUpOutcome", "TransactionResult", "Transport", "send"]
