import type {
  ChannelContext,
  ChannelState,
  CommandInfo,
  IgnoredEvent,
  IngressOutcome,
  Revision,
  SenderFacts,
} from '@parley/channels';
import {
  type AdapterValues,
  ChannelError,
  type InboundMessage,
  type InboundReaction,
  systemTime,
} from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import { createLineLogger } from './logger-into.ts';

/** The outcome of ingress for a stored message. */
export const accepted: IngressOutcome = { kind: 'accepted', conversationId: 'c' };

/** A signal that is never aborted. */
export const noSignal = (): AbortSignal => new AbortController().signal;

/** Overrides for the default core around an adapter. */
export interface CoreOverrides {
  readonly receive?: (message: InboundMessage) => Promise<IngressOutcome>;
  readonly revise?: (revision: Revision) => Promise<void>;
  readonly reacted?: (reaction: InboundReaction) => Promise<void>;
  readonly ignored?: () => Promise<void>;
  /** Looks up a stored message. */
  readonly message?: ChannelContext<unknown>['message'];
  readonly clock?: () => number;
  readonly commands?: readonly CommandInfo[];
  /** Whether another gateway must not serve the account. */
  readonly holdsAccount?: () => boolean;
  /** Values stored by an earlier start. */
  readonly values?: AdapterValues;
}

/** Everything that an adapter reported to the core. */
export interface ReportedEvents {
  readonly received: InboundMessage[];
  /** What the adapter can look up about the senders of these messages. */
  readonly senders: (SenderFacts | undefined)[];
  /** Missed messages that were not passed on, with the reasons. */
  readonly skipped: { readonly message: InboundMessage; readonly reason: string }[];
  /** Events that do not start a turn, with the reasons. */
  readonly ignored: { readonly event: IgnoredEvent; readonly reason: string }[];
  readonly revised: Revision[];
  readonly reactions: InboundReaction[];
  readonly states: ChannelState[];
  readonly logged: string[];
  /** The keys of the notices for the owner. */
  readonly notes: string[];
}

/** The core as seen by one adapter; `changed` is called after every report. */
export function createCore(
  settings: object,
  changed: () => void,
  wishes: CoreOverrides = {},
  log: { readonly debug?: boolean } = {},
) {
  const told: ReportedEvents = {
    received: [],
    senders: [],
    skipped: [],
    ignored: [],
    revised: [],
    reactions: [],
    states: [],
    logged: [],
    notes: [],
  };
  const context = {
    account: 'default',
    settings,
    log: createLineLogger(told.logged, { ...log, changed }),
    clock: wishes.clock ?? systemTime.clock,
    monotonic: wishes.clock ?? systemTime.monotonic,
    commands: wishes.commands ?? [],
    values: wishes.values ?? createInMemoryAdapterValues(),
    holdsAccount: wishes.holdsAccount ?? (() => true),
    receive: async (message: InboundMessage, sender?: SenderFacts) => {
      told.received.push(message);
      told.senders.push(sender);
      changed();
      return (await wishes.receive?.(message)) ?? accepted;
    },
    skipped: async (messages: readonly InboundMessage[], reason: string) => {
      told.skipped.push(...messages.map((message) => ({ message, reason })));
      changed();
    },
    ignored: async (event: IgnoredEvent, reason: string) => {
      told.ignored.push({ event, reason });
      changed();
      await wishes.ignored?.();
    },
    revise: async (revision: Revision) => {
      told.revised.push(revision);
      changed();
      await wishes.revise?.(revision);
    },
    reacted: async (reaction: InboundReaction) => {
      told.reactions.push(reaction);
      changed();
      await wishes.reacted?.(reaction);
    },
    message: async (chatId: string, messageId: string) =>
      (await wishes.message?.(chatId, messageId)) ?? null,
    report: (state: ChannelState) => {
      told.states.push(state);
      changed();
    },
    notifyOwner: async (key: string) => {
      told.notes.push(key);
      changed();
    },
    history: async () => [],
  };
  return { told, context };
}

/** Returns the failure of a rejected call, as the core receives it. */
export async function readFailure(calling: Promise<unknown>): Promise<ChannelError['failure']> {
  const error = await calling.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ChannelError) return error.failure;
  throw new Error(`Expected a ChannelError, got ${String(error)}`);
}
