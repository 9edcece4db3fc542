import { ChangeNotifier } from '../changes.ts';
import type { Json } from './wire.ts';

/** One call by the bot; `arguments` holds the arguments as received. */
export interface RecordedCall {
  readonly seq: number;
  readonly at: number;
  readonly method: string;
  readonly arguments: Json;
  /** The HTTP status of the response, or the fault that replaced it. */
  readonly outcome: number | 'reset' | 'hang';
  readonly error?: string;
}

/** One attempt to deliver something to the bot. */
export interface RecordedDelivery {
  readonly seq: number;
  readonly at: number;
  readonly transport: 'webhook' | 'socket';
  /** The type of the event, `interactive` or `slash_commands`. */
  readonly what: string;
  readonly attempt: number;
  readonly payload: Json;
  /** The HTTP status, `acknowledged`, or the reason why the attempt failed. */
  outcome: number | 'acknowledged' | 'pending' | string;
}

/** Records calls and deliveries in order and notifies waiting listeners. */
export class Transcript {
  readonly changes: ChangeNotifier;
  readonly #calls: RecordedCall[] = [];
  readonly #deliveries: RecordedDelivery[] = [];
  readonly #clock: () => number;
  #seq = 0;

  /**
   * @param summary describes the visible messages for the error message of a wait that timed out
   */
  constructor(clock: () => number, summary: () => string) {
    this.#clock = clock;
    this.changes = new ChangeNotifier(summary);
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  recordCall(call: Omit<RecordedCall, 'seq' | 'at'>): void {
    this.#calls.push({ seq: this.nextSeq(), at: this.#clock(), ...call });
    this.changes.changed();
  }

  /** Records an attempt and returns a function that sets its outcome. */
  recordDelivery(
    delivery: Omit<RecordedDelivery, 'seq' | 'at' | 'outcome'>,
  ): (outcome: RecordedDelivery['outcome']) => void {
    const record: RecordedDelivery = {
      ...{ seq: this.nextSeq(), at: this.#clock() },
      ...{ ...delivery, outcome: 'pending' },
    };
    this.#deliveries.push(record);
    this.changes.changed();
    return (outcome) => {
      record.outcome = outcome;
      this.changes.changed();
    };
  }

  /** All calls, or those of one method, oldest first. */
  calls(method?: string): RecordedCall[] {
    return this.#calls.filter((call) => method === undefined || call.method === method);
  }

  /** The delivery attempts that began after `seq`, oldest first. */
  deliveriesAfter(seq: number): RecordedDelivery[] {
    const last = this.#deliveries.findLastIndex((delivery) => delivery.seq <= seq);
    return this.#deliveries.slice(last + 1);
  }

  /** All deliveries, or those of one type, oldest first. */
  deliveries(what?: string): RecordedDelivery[] {
    return this.#deliveries.filter((delivery) => what === undefined || delivery.what === what);
  }
}
