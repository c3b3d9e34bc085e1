"""A client of the Subscription Top-up Service Interface. A top-up is safe when its answer is lost."""

from .client import Client
from .transport import Transport, send
from .values import Answer, Bouquet, Connection, Customer, Failure, Next, PackageListing, Purchase, Subscription
from .values import TopUpOutcome, TransactionResult
from .waits import Clock

__version__ = "0.1.0"
__all__ = ["Answer", "Bouquet", "Client", "Clock", "Connection", "Customer", "Failure", "Next", "PackageListing"]
__all__ += ["Purchase", "Subscription", "TopUpOutcome", "TransactionResult", "Transport", "send"]
