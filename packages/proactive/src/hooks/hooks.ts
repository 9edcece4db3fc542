import { createHash } from 'node:crypto';
import {
  type Meter,
  type NewId,
  type Runtime,
  type Sender,
  toAgentConversation,
} from '@parley/core';
import { HEARTBEAT_LANE, type HeartbeatRunRequest, HOOK_AGENT, type Store } from '@parley/store';
import type { AlertChat } from '../alert-target.ts';
import type { FindAlertTarget } from '../alerts.ts';
import type { Heartbeat } from '../heartbeat/heartbeat.ts';
import { createRunRequestInChat } from '../heartbeat/run.ts';
import { formatEvent, type SentEvent } from './event-text.ts';

/** A hook from the settings (H09). */
export interface HookRules {
  readonly token: string;
  readonly action: 'job' | 'heartbeat';
  readonly instruction?: string | undefined;
  readonly task?: string | undefined;
  readonly target: string;
  readonly agent?: string | undefined;
  readonly perMinute: number;
  readonly maxBytes: number;
  readonly maxCharacters: number;
  readonly signature: boolean;
  readonly fields?: readonly string[] | undefined;
}

/** An event whose sender has presented the token. */
export interface HookEvent extends SentEvent {
  /** Events with the same key are the same event; an event without a key is always new. */
  readonly key?: string | undefined;
}

/**
 * How an event was accepted or refused. `taken` means that the event is stored durably; `full` and
 * `nowhere` can be retried later.
 */
export type HookAnswer =
  | { readonly kind: 'taken'; readonly id: string; readonly isNew: boolean }
  | { readonly kind: 'full' | 'nowhere'; readonly reason: string };

/**
 * A hook as shown in lists, with its latest events, newest first. The list never contains the
 * token.
 */
export interface HookView extends Pick<HookRules, 'action' | 'instruction' | 'task' | 'target'> {
  readonly name: string;
  /** The prefix of the agent's conversation ids; absent for the default agent (F14). */
  readonly agent?: string | undefined;
  readonly events: readonly HookEventView[];
}

export interface HookEventView {
  readonly id: string;
  /** When the event arrived, in ms. */
  readonly at: number;
  readonly outcome: string;
  /** The text that was sent or would have been sent. */
  readonly said: string | null;
}

export interface HookServices extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'heartbeats'>;
  readonly rules: Readonly<Record<string, HookRules>>;
  readonly meter: Pick<Meter, 'count'>;
  /** Finds the agent for which a hook works; undefined if the agent does not exist. */
  readonly agentOf: (name: string | undefined) => HookAgent | undefined;
  readonly wake: (lane: string) => Promise<void>;
  readonly newId: NewId;
}

/** The services of the agent for which a hook works (F14). */
interface HookAgent {
  readonly owners: readonly string[];
  /** Finds the chat for a hook (H04). `choice` has the same form as `heartbeat.notify`. */
  readonly findTarget: (choice: string) => FindAlertTarget;
  readonly heartbeat: Pick<Heartbeat, 'wake' | 'languageOf'>;
}

/** The maximum number of events that wait in a hook's lane. */
const MAX_WAITING = 100;
const EVENTS_SHOWN = 10;

export type Hooks = ReturnType<typeof createHooks>;

/**
 * Accepts external events (H09). Each event is stored as a run in the hook's lane, or wakes the
 * heartbeat.
 */
export function createHooks(deps: HookServices) {
  const { store, rules, meter, clock } = deps;
  return {
    rules,
    count: (outcome: string, hook = ''): void =>
      meter.count('parley_hook_events_total', { hook, outcome }),
    /**
     * Accepts an event; once the promise resolves with `taken`, the event is durable. A key is
     * accepted only once, even across restarts.
     */
    async take(name: string, event: HookEvent): Promise<HookAnswer> {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
      if (rule === undefined) return { kind: 'nowhere', reason: 'there is no such hook' };
      const id = createEventId(name, event.key, deps.newId);
      if (event.key !== undefined && (await store.heartbeats.of(id)) !== null) {
        return { kind: 'taken', id, isNew: false };
      }
      const agent = deps.agentOf(rule.agent);
      if (agent === undefined) {
        return { kind: 'nowhere', reason: `there is no agent ${rule.agent ?? ''}` };
      }
      const take = rule.action === 'job' ? startHookRun : wakeHeartbeat;
      return take(deps, agent, { id, name, rule, event, now: clock() });
    },
    async list(): Promise<readonly HookView[]> {
      return Promise.all(
        Object.entries(rules).map(async ([name, { agent, action, instruction, task, target }]) => {
          const runs = await store.heartbeats.recent(hookAgentName(name), EVENTS_SHOWN);
          const events = runs.map(({ id, startedAt, state, reason, alert }) => ({
            ...{ id, at: startedAt, said: alert },
            outcome: reason === null ? OUTCOMES[state] : `${OUTCOMES[state]}: ${reason}`,
          }));
          return { name, agent, action, instruction, task, target, events };
        }),
      );
    },
  };
}

const OUTCOMES = {
  waiting: 'waits for the previous event',
  running: 'under way',
  quiet: 'quiet',
  alerted: 'sent',
  held: 'held until the quiet hours are over',
  repeated: 'not sent again',
  unclear: 'not sent, unclear',
  failed: 'failed',
} as const;

const hookAgentName = (name: string) => `${HOOK_AGENT}${name}`;
const laneOf = (name: string, { agent }: Pick<HookRules, 'agent'>) =>
  toAgentConversation(agent, `${HEARTBEAT_LANE}${HOOK_AGENT}${name}`);

/**
 * Derives an event's id from its key, so that keys do not need a separate table. Events from
 * different hooks or with different keys have different ids.
 */
export function createEventId(name: string, key: string | undefined, newId: NewId): string {
  if (key === undefined) return newId(`hook_${name}`);
  return `hook_${name}_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

interface AcceptedEvent {
  readonly id: string;
  readonly name: string;
  readonly rule: HookRules;
  readonly event: HookEvent;
  readonly now: number;
}

async function startHookRun(
  deps: HookServices,
  { owners, findTarget, heartbeat }: HookAgent,
  taking: AcceptedEvent,
): Promise<HookAnswer> {
  const { store, log } = deps;
  const { id, name, rule, now } = taking;
  const isOwners = rule.target === 'last' || owners.includes(rule.target);
  const target = await findTarget(isOwners ? rule.target : 'last')({
    name: `hook ${name}`,
    ...(!isOwners && { tell: rule.target }),
  });
  if (target.kind === 'none') return { kind: 'nowhere', reason: target.reason };
  const order = createEventRunRequest(taking, target, await heartbeat.languageOf(target));
  const started = await store.heartbeats.start(order, null, now, MAX_WAITING);
  if (started === 'busy')
    return { kind: 'full', reason: `${MAX_WAITING} events are already waiting` };
  log.info({ hook: name, event: id, started }, 'an event arrived');
  await deps.wake(order.message.conversationId);
  return { kind: 'taken', id, isNew: started === 'started' };
}

async function wakeHeartbeat(
  { store, log }: HookServices,
  { heartbeat }: HookAgent,
  { id, name, rule, now }: AcceptedEvent,
): Promise<HookAnswer> {
  const outcome = await heartbeat.wake(`asked:${id}`, rule.task);
  if (outcome === null) return { kind: 'full', reason: 'too many runs are already waiting' };
  const reason =
    outcome.kind === 'started' ? `the standing task ${outcome.task} started` : outcome.reason;
  // The outcome is stored last: if the process dies before that, the sender repeats the event,
  // whose id identifies the run.
  const note = { id, agent: hookAgentName(name), task: name, lane: laneOf(name, rule), reason };
  const isNew = await store.heartbeats.note(note, now);
  log.info({ hook: name, event: id, reason }, 'an event arrived');
  return { kind: 'taken', id, isNew };
}

/** An event in a group was not caused by any of its members, so it does not have a sender there. */
const OPERATOR: Sender = { id: 'operator', name: 'the operator', isBot: false };

/**
 * Creates the message that starts the turn for an event. The event is passed as data (P18),
 * separate from the instruction.
 */
function createEventRunRequest(
  { id, name, rule, event, now }: AcceptedEvent,
  target: AlertChat,
  language: string | undefined,
): HeartbeatRunRequest {
  const { instruction = '' } = rule;
  return createRunRequestInChat(target, {
    ...{ id, agent: hookAgentName(name), task: name, lane: laneOf(name, rule), now },
    ...(!target.isOwners && { sender: OPERATOR }),
    text: `⚙️ An event came from outside: do with it what the heartbeat part of your instructions says. This is the event.\n\n${formatEvent(event, rule)}`,
    reason: `hook ${name} received an event`,
    variables: {
      ...{ task: `hook ${name}`, instruction, schedule: 'with each event', hook: name },
      ...(language && { language }),
    },
  });
}
