import { type WhatsAppEnv, whatsapp } from '@parley/channel-whatsapp';
import type { ChannelAdapter, Revision } from '@parley/channels';
import type { AdapterValues, InboundMessage, OutboundPart } from '@parley/core';
import { createInMemoryAdapterValues } from '@parley/core/testing';
import {
  startWhatsAppDouble,
  type WhatsAppDouble,
  type WhatsAppDoubleOptions,
} from '@parley/simulators/whatsapp';
import { BufferJSON, type SignalDataSet, WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { onTestFinished } from 'vitest';
import { accepted, type CoreOverrides, createCore, type ReportedEvents } from '../adapter-core.ts';

/** Overrides for the default core around the adapter. */
export interface WhatsAppSceneOptions extends CoreOverrides {
  /** Whether the account is not linked yet. */
  readonly unlinked?: boolean;
  readonly env?: Partial<WhatsAppEnv>;
  readonly double?: WhatsAppDoubleOptions;
  /** The account's settings, besides the server's address. */
  readonly settings?: object;
}

/** The double, a connected adapter, and everything that the adapter reports to the core. */
export interface WhatsAppScene extends ReportedEvents {
  readonly double: WhatsAppDouble;
  readonly adapter: ChannelAdapter;
  readonly values: AdapterValues;
  readonly waits: number[];
  /** The text of each received message in order, without duplicates, as ingress counts them. */
  texts(): string[];
  /** Creates another adapter on the same account, as after a restart. */
  again(): Promise<ChannelAdapter>;
  /** Resolves when the adapter has been connected this many times. */
  connected(times?: number): Promise<true>;
}

/**
 * Starts a double and creates an adapter for it that does not wait between its attempts; both are
 * closed with the test.
 */
export async function createScene(wishes: WhatsAppSceneOptions = {}): Promise<WhatsAppScene> {
  const { close, ...open } = await buildScene(wishes);
  onTestFinished(close);
  return open;
}

/** A connected scene for several tests; `close` ends it. */
export async function openLastingScene(wishes: WhatsAppSceneOptions = {}): Promise<LastingScene> {
  const open = await buildScene(wishes);
  await open.adapter.start();
  await open.connected();
  return open;
}

interface LastingScene extends WhatsAppScene {
  close(): Promise<void>;
}

async function buildScene(wishes: WhatsAppSceneOptions): Promise<LastingScene> {
  const connect = await whatsapp.load();
  const double = await startWhatsAppDouble(wishes.double);
  WA_CERT_DETAILS.PUBLIC_KEY = double.rootKey;
  const values = wishes.values ?? createInMemoryAdapterValues();
  if (wishes.unlinked !== true) await linkAdapter(double, values);
  const { told, context } = createCountingCore(double, { ...wishes, values });
  const waits: number[] = [];
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
    const adapter = connect(context, env);
    adapters.push(adapter);
    return adapter;
  };
  const close = async () => {
    for (const adapter of adapters) await adapter.stop();
    await double.close();
  };
  const { received, states } = told;
  const opened = () => states.filter(({ kind }) => kind === 'connected').length;
  return {
    close,
    double,
    adapter: make(),
    values,
    ...told,
    waits,
    texts: () => [...new Map(received.map(({ messageId, text }) => [messageId, text])).values()],
    again: async () => {
      const adapter = make();
      await adapter.start();
      return adapter;
    },
    connected: (times = 1) => double.waitFor(() => opened() >= times),
  };
}

/** A scene with a connected adapter. */
export async function openScene(wishes: WhatsAppSceneOptions = {}): Promise<WhatsAppScene> {
  const open = await createScene(wishes);
  await open.adapter.start();
  await open.connected();
  return open;
}

/** A part for a chat, with a new or a reused key. */
export function createPart(
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

async function linkAdapter(double: WhatsAppDouble, values: AdapterValues): Promise<void> {
  const { creds, keys } = double.linkWithoutCode();
  const credentials = { kind: 'credentials', id: 'credentials', value: toText(creds) };
  await values.set([credentials, ...listKeyChanges(keys)]);
}

function listKeyChanges(keys: SignalDataSet) {
  return Object.entries(keys).flatMap(([kind, entries]) =>
    Object.entries(entries).map(([id, value]) => ({ kind, id, value: toText(value) })),
  );
}

function toText(value: unknown): string {
  return JSON.stringify(value, BufferJSON.replacer);
}

/** A core that counts messages as ingress does: refused messages are delivered again. */
function createCountingCore(double: WhatsAppDouble, wishes: WhatsAppSceneOptions) {
  const changed = () => double.transcript.changes.changed();
  const settings = { url: double.url, pace: true, ...wishes.settings };
  const { told, context } = createCore(settings, changed, wishes, { debug: true });
  const receive = async (message: InboundMessage) => {
    const outcome = await (wishes.receive?.(message) ?? accepted);
    told.received.push(message);
    changed();
    return outcome;
  };
  const revise = async (revision: Revision) => {
    await wishes.revise?.(revision);
    told.revised.push(revision);
    changed();
  };
  return { told, context: { ...context, receive, revise } };
}
