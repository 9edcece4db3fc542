import { ParleyError } from '@parley/contracts';

/** Something the queue could not do; messages are safe in the tables either way. */
export class QueueError extends ParleyError {}
