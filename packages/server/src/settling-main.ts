import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { SettlingThreadData } from "./store/sqlite/settling/settling-messages.ts";
import { serveSettling } from "./store/sqlite/settling/settling-service.ts";

/* The composition root of the thread that settles top-ups. main.ts begins it. */

serveSettling(parentPort as MessagePort, workerData as SettlingThreadData, Date.now);
