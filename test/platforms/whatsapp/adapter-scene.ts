import { type WhatsAppEnv, whatsapp } from '@parley/channel-whatsapp';
import type { ChannelAdapter, ChannelState, IngressOutcome, Revision } from '@parley/channels';
import {
  type AdapterValues,
  ChannelError,
  type InboundMessage,
  memoryValues,
  type OutboundPart,
} from '@parley/contracts';
import { BufferJSON, type SignalDataSet, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { onTestFinished } from 'vitest';
import { loggerInto } from '../logger-into.ts';
import {
  startWhatsAppDouble,
  type WhatsAppDouble,
  type WhatsAppDoubleOptions,
} from './whatsapp-double.ts';

/** What ingress says to a message it has stored. */
export const accepted: IngressOutcome = { kind: 'accepted', conversationId: 'c' };

/** What a core does around the adapter, as far as tests change it. */
export interface Wishes {
  readonly receive?: (message: InboundMessage) => Promise<IngressOutcome>;
  readonly revise?: (revision: Revision) => Promise<void>;
  readonly values?: AdapterValues;
  /** The account is not linked yet. */
  readonly unlinked?: boolean;
  readonly env?: Partial<WhatsAppEnv>;
  readonly double?: WhatsAppDoubleOptions;
}

/** The double, an adapter on it, and all that the adapter told the core. */
export interface Scene {
  readonly double: WhatsAppDouble;
  readonly adapter: ChannelAdapter;
  readonly values: AdapterValues;
  readonly received: InboundMessage[];
  readonly revised: Revision[];
  readonly states: ChannelState[];
  readonly waits: number[];
  readonly logged: string[];
  /** Texts received, in order, each message once: as ingress counts them. */
  texts(): string[];
  /** Another adapter on the same account, as after a restart. */
  again(): Promise<ChannelAdapter>;
  /** Resolves when the adapter has been connected so often. */
  connected(times?: number): Promise<true>;
}

/** What the adapter told the core. */
interface Notes {
  readonly received: InboundMessage[];
  readonly revised: Revision[];
  readonly states: ChannelState[];
}

/** Starts a double and makes an adapter for it that does not wait between its attempts. */
export async function scene(wishes: Wishes = {}): Promise<Scene> {
  const connect = await whatsapp.load();
  const double = await startWhatsAppDouble(wishes.double);
  WA_CERT_DETAILS.PUBLIC_KEY = double.rootKey;
  const values = wishes.values ?? memoryValues();
  if (wishes.unlinked !== true) await link(double, values);
  const notes: Notes = { received: [], revised: [], states: [] };
  const waits: number[] = [];
  const logged: string[] = [];
  const env: WhatsAppEnv = {
    random: () => 0,
    wait: async (ms) => {
      waits.push(ms);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
    ackTimeoutMs: 5_000,
    ...wishes.env,
  };
  const adapters: ChannelAdapter[] = [];
  const make = () => {
    const adapter = connect(contextOf(double, values, notes, logged, wishes), env);
    adapters.push(adapter);
    return adapter;
  };
  onTestFinished(async () => {
    for (const adapter of adapters) await adapter.stop();
    await double.close();
  });
  const { received, states } = notes;
  const opened = () => states.filter(({ kind }) => kind === 'connected').length;
  return {
    double,
    adapter: make(),
    values,
    ...notes,
    waits,
    logged,
    texts: () => [...new Map(received.map(({ messageId, text }) => [messageId, text])).values()],
    again: async () => {
      const adapter = make();
      await adapter.start();
      return adapter;
    },
    connected: (times = 1) => double.waitFor(() => opened() >= times),
  };
}

/** The same, with an adapter that is connected. */
export async function openScene(wishes: Wishes = {}): Promise<Scene> {
  const open = await scene(wishes);
  await open.adapter.start();
  await open.connected();
  return open;
}

/** A part for a chat, with a key of its own or one that was used before. */
export function part(
  chatId: string,
  text: string,
  { key = text, replyTo }: { readonly key?: string; readonly replyTo?: string } = {},
): OutboundPart {
  const target = { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' } as const;
  const place = { channel: 'whatsapp', account: 'default', chatId, target };
  const route = replyTo === undefined ? place : { ...place, replyToMessageId: replyTo };
  return {
    id: 'part_1',
    idempotencyKey: key,
    turnId: 't',
    index: 0,
    route,
    body: { text, plain: text },
  };
}

/** What a send that must fail says of its failure. */
export async function failureOf(sending: Promise<unknown>): Promise<ChannelError['failure']> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ChannelError) return error.failure;
  throw new Error(`Expected a ChannelError, got ${String(error)}`);
}

/** A signal that nobody aborts. */
export const noSignal = (): AbortSignal => new AbortController().signal;

async function link(double: WhatsAppDouble, values: AdapterValues): Promise<void> {
  const { creds, keys } = double.linkWithoutCode();
  const credentials = { kind: 'credentials', id: 'credentials', value: textOf(creds) };
  await values.set([credentials, ...changesOf(keys)]);
}

function changesOf(keys: SignalDataSet) {
  return Object.entries(keys).flatMap(([kind, entries]) =>
    Object.entries(entries).map(([id, value]) => ({ kind, id, value: textOf(value) })),
  );
}

function textOf(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

function contextOf(
  double: WhatsAppDouble,
  values: AdapterValues,
  notes: Notes,
  logged: string[],
  { receive, revise }: Wishes,
) {
  const changed = () => double.transcript.changes.changed();
  return {
    account: 'default',
    settings: { url: double.url, pace: true },
    log: loggerInto(logged, { debug: true }),
    clock: Date.now,
    values,
    revise: async (revision: Revision) => {
      await revise?.(revision);
      notes.revised.push(revision);
      changed();
    },
    commands: [],
    receive: async (message: InboundMessage) => {
      const outcome = await (receive?.(message) ?? accepted);
      notes.received.push(message);
      changed();
      return outcome;
    },
    report: (state: ChannelState) => {
      notes.states.push(state);
      changed();
    },
    history: async () => [],
  };
}
