/** One metric: what it counts or times, and the labels it carries. */
export type MetricDefinition =
  | { readonly kind: 'counter'; readonly help: string; readonly labels: readonly string[] }
  | {
      readonly kind: 'histogram';
      readonly help: string;
      readonly labels: readonly string[];
      /** Upper bounds in seconds, ascending, without infinity. */
      readonly buckets: readonly number[];
    };

/** Definitions by name. Prometheus asks for `_total` on counters and for seconds on durations. */
export type MetricTable = Readonly<Record<string, MetricDefinition>>;

/** Steps inside the process and calls to a platform. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Whatever waits for a model or for a turn before it. */
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];

/** Every metric of Parley, in the order a message passes them. A name that is not here cannot be used. */
export const PARLEY_METRICS: MetricTable = {
  parley_ingress_total: {
    kind: 'counter',
    help: 'Messages that came from platforms, by what became of them.',
    labels: ['channel', 'outcome'],
  },
  parley_inbox_wait_seconds: {
    kind: 'histogram',
    help: 'From the moment a message was stored until its turn began.',
    labels: [],
    buckets: SLOW,
  },
  parley_turn_seconds: {
    kind: 'histogram',
    help: 'Duration of an agent turn, by how it ended.',
    labels: ['outcome'],
    buckets: SLOW,
  },
  parley_model_first_token_seconds: {
    kind: 'histogram',
    help: 'From the call of the model until its first token.',
    labels: [],
    buckets: SLOW,
  },
  parley_model_tokens_total: {
    kind: 'counter',
    help: 'Tokens given to models (input) and received from them (output).',
    labels: ['direction'],
  },
  parley_outbox_parts_total: {
    kind: 'counter',
    help: 'Parts of answers that reached a state of delivery.',
    labels: ['channel', 'state'],
  },
  parley_delivery_seconds: {
    kind: 'histogram',
    help: 'Duration of one send, as the platform took it.',
    labels: ['channel'],
    buckets: QUICK,
  },
};
