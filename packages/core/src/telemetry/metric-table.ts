/** A metric: what it counts, measures or reads, and its labels. */
export type MetricDefinition = RecordedDefinition | GaugeDefinition;

/** A value that is read on demand. */
export interface GaugeDefinition {
  readonly kind: 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value that is recorded as events happen. */
export type RecordedDefinition =
  | { readonly kind: 'counter'; readonly help: string; readonly labels: readonly string[] }
  | {
      readonly kind: 'histogram';
      readonly help: string;
      readonly labels: readonly string[];
      /** Upper bounds in seconds, in ascending order, without infinity. */
      readonly buckets: readonly number[];
    };

/** Prometheus expects `_total` on counters and seconds for durations. */
export type MetricTable = Readonly<Record<string, MetricDefinition>>;

/** Buckets for steps inside the process and calls to a platform. */
const QUICK = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Buckets for operations that wait for a model or for an earlier turn. */
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];

const gauge = (help: string, ...labels: readonly string[]): GaugeDefinition => {
  return { kind: 'gauge', help, labels };
};
const counter = (help: string, ...labels: readonly string[]): RecordedDefinition => {
  return { kind: 'counter', help, labels };
};
const quick = (help: string, ...labels: readonly string[]): RecordedDefinition => {
  return { kind: 'histogram', help, labels, buckets: QUICK };
};
const slow = (help: string, ...labels: readonly string[]): RecordedDefinition => {
  return { kind: 'histogram', help, labels, buckets: SLOW };
};

/**
 * All of Parley's metrics, in the order in which a message passes them: channel, ingress, inbox,
 * lane, turn, prompt, model and tools, outbox, delivery, channel. A metric that is missing in this
 * table cannot be used. No label ever contains the id of a chat or a person.
 */
export const PARLEY_METRICS: MetricTable = {
  parley_ready: gauge('Whether `/readyz` answers 200 (1) or 503 (0).'),
  parley_channel_up: gauge(
    'Whether an account is connected (1) or not (0); the label gives its state.',
    'channel',
    'account',
    'state',
  ),
  parley_platform_delay_seconds: slow(
    'Time from when a message was written, according to the platform, until Parley received it.',
    'channel',
  ),
  parley_ingress_total: counter(
    'Messages received from platforms, by outcome.',
    'channel',
    'outcome',
  ),
  parley_ingress_seconds: quick(
    'Time from receiving a message until it is durable or permanently refused.',
    'channel',
  ),
  parley_overflow_total: counter(
    'Messages refused because too many were waiting, too many were missed, or the message was too long, by limit.',
    'channel',
    'bound',
  ),
  parley_hook_events_total: counter(
    'External events, by hook and outcome; the hook is empty when the token was wrong.',
    'hook',
    'outcome',
  ),
  parley_hook_runs_total: counter(
    'External events that were processed, by hook and outcome.',
    'hook',
    'outcome',
  ),
  parley_inbox_seconds: quick('Time to store one message, by outcome.', 'outcome'),
  parley_inbox_waiting_messages: gauge('Messages waiting for their turn, in all conversations.'),
  parley_inbox_waiting_conversations: gauge('Conversations in which messages wait.'),
  parley_inbox_oldest_seconds: gauge(
    'Age of the message that has waited longest for the agent, excluding messages that wait for a person.',
  ),
  parley_inbox_wait_seconds: slow(
    'Time from storing a message until its turn first started, including the time for which a person led the chat.',
  ),
  parley_lane_turns_total: counter(
    'Turns taken from lanes, by agent: `first`, or `resumed` after a crash, an approval or a shutdown.',
    'run',
    'agent',
  ),
  parley_queue_jobs: gauge(
    "Conversations in the workers' queue, by the state of their wake-up.",
    'queue',
    'state',
  ),
  parley_turns_running: gauge('Turns that are running or waiting for an approval.'),
  parley_turn_seconds: slow('Duration of an agent turn, by how it ended.', 'outcome'),
  parley_prompt_seconds: quick('Time to assemble a prompt and read the history.'),
  parley_model_seconds: slow('Duration of one model call, by how it ended.', 'outcome'),
  parley_model_first_token_seconds: slow('Time from calling the model until its first token.'),
  parley_model_tokens_total: counter(
    'Tokens sent to models (input) and received from them (output).',
    'direction',
  ),
  parley_model_protocol_errors_total: counter(
    'Parts of model answers that were skipped because they violate the protocol, by kind.',
    'kind',
  ),
  parley_tool_seconds: slow('Duration of one tool call, by how it ended.', 'tool', 'outcome'),
  parley_commit_seconds: quick('Duration of committing a turn, by outcome.', 'outcome'),
  parley_outbox_queued_total: counter('Parts of answers put into the outbox.', 'channel'),
  parley_outbox_parts: gauge(
    'Parts in the outbox that are not sent yet, by state.',
    'channel',
    'state',
  ),
  parley_outbox_oldest_seconds: gauge('Age of the oldest unsent part.', 'channel'),
  parley_outbox_wait_seconds: slow(
    'Time from putting a part into the outbox until it was handed to the platform.',
    'channel',
  ),
  parley_delivery_seconds: quick('Duration of one send until the platform accepted it.', 'channel'),
  parley_delivery_retries_total: counter(
    'Failed sends that are retried, by the kind of failure.',
    'channel',
    'reason',
  ),
  parley_adapter_defects_total: counter(
    'Adapter results that violate the contract, by the function that returned them.',
    'channel',
    'function',
  ),
  parley_outbox_parts_total: counter(
    'Parts of answers that reached a delivery state.',
    'channel',
    'state',
  ),
  parley_dead_letters: gauge('Open dead letters, by kind.', 'kind'),
  parley_leases_held: gauge('Leases held by processes of this deployment, by purpose.', 'kind'),
  parley_retention_held_seconds: gauge(
    'Extra time for which old rows are kept, because clocks and rows disagree about how much time has passed.',
  ),
  parley_database_rewinds: gauge(
    'How often the database was found to have gone back in time: a failover that lost rows, or an old copy.',
  ),
  parley_processes: gauge('Recently seen processes of this deployment, by role.', 'role'),
  parley_database_up: gauge('Whether the database responds (1) or not (0).'),
  parley_database_ping_seconds: gauge('Time the database took to respond to the last check.'),
  parley_event_loop_lag_seconds: gauge('Event loop lag since the last scrape.', 'quantile'),
};
