/** One metric: what it counts, times or reads, and the labels it carries. */
export type MetricDefinition = RecordedDefinition | GaugeDefinition;

/** A value that is read on demand. */
export interface GaugeDefinition {
  readonly kind: 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A value that is recorded as things happen. */
export type RecordedDefinition =
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
 * Every metric of Parley, in the order a message passes them: channel, ingress, inbox, lane, turn,
 * prompt, model and tools, outbox, delivery, channel. A name that is not here cannot be used. No label
 * ever holds the id of a chat or a person.
 */
export const PARLEY_METRICS: MetricTable = {
  parley_ready: gauge('Whether `/readyz` answers 200 (1) or 503 (0).'),
  parley_channel_up: gauge(
    'Whether an account is connected (1) or not (0); the label says how it is.',
    'channel',
    'account',
    'state',
  ),
  parley_platform_delay_seconds: slow(
    'From the moment a message was written, as the platform says, until Parley received it.',
    'channel',
  ),
  parley_ingress_total: counter(
    'Messages that came from platforms, by outcome.',
    'channel',
    'outcome',
  ),
  parley_ingress_seconds: quick(
    'From the receipt of a message until it is durable or refused for good.',
    'channel',
  ),
  parley_overflow_total: counter(
    'Messages that were refused because too many wait, too many were missed, or they are too long, by the bound.',
    'channel',
    'bound',
  ),
  parley_hook_events_total: counter(
    'Events from outside, by hook and outcome; without a hook where the token was wrong.',
    'hook',
    'outcome',
  ),
  parley_hook_runs_total: counter(
    'Events from outside that were worked on, by hook and outcome.',
    'hook',
    'outcome',
  ),
  parley_inbox_seconds: quick('Duration of storing one message, by outcome.', 'outcome'),
  parley_inbox_waiting_messages: gauge('Messages that wait for their turn, in all conversations.'),
  parley_inbox_waiting_conversations: gauge('Conversations in which messages wait.'),
  parley_inbox_oldest_seconds: gauge(
    'How long the message that waits longest for the agent has been waiting; not for a person who leads the chat or has to decide.',
  ),
  parley_inbox_wait_seconds: slow(
    'From the moment a message was stored until its turn first began; in a chat that a person led, with that time.',
  ),
  parley_lane_turns_total: counter(
    'Turns taken from lanes, by agent: `first`, or `resumed` after a crash, an approval or a shutdown.',
    'run',
    'agent',
  ),
  parley_queue_jobs: gauge(
    'Conversations in the queue of the workers, by the state of their wake-up.',
    'queue',
    'state',
  ),
  parley_turns_running: gauge('Turns that are running or waiting for an approval.'),
  parley_turn_seconds: slow('Duration of an agent turn, by how it ended.', 'outcome'),
  parley_prompt_seconds: quick('Duration of assembling a prompt and reading the history.'),
  parley_model_seconds: slow('Duration of one call of the model, by how it ended.', 'outcome'),
  parley_model_first_token_seconds: slow('From the call of the model until its first token.'),
  parley_model_tokens_total: counter(
    'Tokens given to models (input) and received from them (output).',
    'direction',
  ),
  parley_model_protocol_errors_total: counter(
    'Parts of model answers that were skipped because they break the protocol, by kind.',
    'kind',
  ),
  parley_tool_seconds: slow('Duration of one call of a tool, by how it ended.', 'tool', 'outcome'),
  parley_commit_seconds: quick('Duration of the commit of a turn, by its outcome.', 'outcome'),
  parley_outbox_queued_total: counter('Parts of answers put into the outbox.', 'channel'),
  parley_outbox_parts: gauge(
    'Parts in the outbox that are not sent yet, by their state.',
    'channel',
    'state',
  ),
  parley_outbox_oldest_seconds: gauge('How long the oldest part has been waiting.', 'channel'),
  parley_outbox_wait_seconds: slow(
    'From the moment a part was put into the outbox until it was given to the platform.',
    'channel',
  ),
  parley_delivery_seconds: quick('Duration of one send, as the platform took it.', 'channel'),
  parley_delivery_retries_total: counter(
    'Sends that failed and are tried again, by the kind of failure.',
    'channel',
    'reason',
  ),
  parley_adapter_defects_total: counter(
    'Results of an adapter that break its contract, by the function that returned them.',
    'channel',
    'function',
  ),
  parley_outbox_parts_total: counter(
    'Parts of answers that reached a state of delivery.',
    'channel',
    'state',
  ),
  parley_dead_letters: gauge('Open dead letters, by kind.', 'kind'),
  parley_leases_held: gauge(
    'Leases that processes of this deployment hold, by what they are for.',
    'kind',
  ),
  parley_retention_held_seconds: gauge(
    'How long old rows are kept beyond their age, because clocks and rows disagree about how much time has passed.',
  ),
  parley_database_rewinds: gauge(
    'How often the database was found to have gone back in time: a failover that lost rows, or an old copy.',
  ),
  parley_processes: gauge(
    'Processes of this deployment that were seen lately, by their role.',
    'role',
  ),
  parley_database_up: gauge('Whether the database answers (1) or not (0).'),
  parley_database_ping_seconds: gauge('How long the database took to answer just now.'),
  parley_event_loop_lag_seconds: gauge(
    'How late the event loop was since the last scrape.',
    'quantile',
  ),
};
