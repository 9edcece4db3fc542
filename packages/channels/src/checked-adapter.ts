import {
  Capabilities,
  ChannelError,
  type ChannelFailure,
  type Defects,
  InboundMessage,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/core';
import { z } from 'zod';
import type {
  ChannelAdapter,
  ChannelState,
  FilesCapability,
  HttpCapability,
  SenderFacts,
  StreamingCapability,
} from './adapter.ts';

const Work = z.custom((value) => typeof value === 'function', 'must be a function');
const Ms = z.number().nonnegative();
const Shape = z.looseObject({
  capabilities: z.looseObject(Capabilities.shape),
  start: Work,
  stop: Work,
  send: Work,
  findSent: Work.optional(),
  chatName: Work.optional(),
  typing: z.looseObject({ repeatMs: Ms, show: Work }).optional(),
  streaming: z
    .looseObject({ minIntervalMs: Ms, update: Work, end: Work, pace: Work.optional() })
    .optional(),
  files: z.looseObject({ maxBytes: z.number().positive(), fetch: Work }).optional(),
  messages: z
    .looseObject({ edit: Work.optional(), delete: Work.optional(), react: Work.optional() })
    .optional(),
  http: z.looseObject({ fetch: Work }).optional(),
});

/**
 * Problems in the shape of a newly created adapter, worded for people; empty when the shape is
 * valid.
 */
export function findShapeProblems(adapter: unknown): readonly string[] {
  const { error } = Shape.safeParse(adapter);
  return (error?.issues ?? []).map(({ path, message }) =>
    [z.core.toDotPath(path), message].filter(Boolean).join(': '),
  );
}

/**
 * Wraps an adapter and validates its results at the boundary (F01). An invalid result is counted
 * and replaced by a harmless one, so it never reaches the database or other code.
 */
export function checkAdapter(adapter: ChannelAdapter, defects: Defects): ChannelAdapter {
  const { findSent, chatName, reportsStart, typing, streaming, files, messages, http } = adapter;
  return {
    get capabilities() {
      return adapter.capabilities;
    },
    start: () => adapter.start(),
    stop: () => adapter.stop(),
    send: (part, signal, onStart) =>
      checkSend(defects, part, signal, () => adapter.send(part, signal, onStart)),
    ...(findSent && {
      findSent: async (...asked) =>
        validateReturnValue(defects, 'findSent', Id.nullish(), await findSent(...asked), undefined),
    }),
    ...(chatName && {
      chatName: async (address) =>
        validateReturnValue(
          defects,
          'chatName',
          Name.optional(),
          await chatName(address),
          undefined,
        ),
    }),
    ...(reportsStart && { reportsStart }),
    ...(typing && { typing }),
    ...(streaming && { streaming: checkStreaming(streaming, defects) }),
    ...(files && { files: checkFiles(files, defects) }),
    ...(messages && { messages }),
    ...(http && { http: checkHttp(http, defects) }),
  };
}

/** Some libraries use numeric ids. */
const Id = z.union([z.string(), z.int().transform(String)]).pipe(z.string().min(1).max(256));
const Name = z.string().max(1_000);
const ReceiptShape = z.object({ platformMessageId: Id });

/** The id of a message that arrived without a readable receipt; no platform has such ids. */
function createMissingReceiptId({ id }: OutboundPart): string {
  return `unknown:${id}`;
}

/**
 * When a send resolves, the part has been sent. Without a readable receipt, the part counts as sent
 * and gets a generated id. Sending it again would duplicate it, and marking it uncertain would ask
 * a person about a message that has arrived.
 */
async function checkSend(
  defects: Defects,
  part: OutboundPart,
  signal: AbortSignal,
  send: () => Promise<Receipt>,
): Promise<Receipt> {
  let returned: unknown;
  try {
    returned = await send();
  } catch (thrown) {
    // An operation interrupted by a timeout or by shutdown may throw any error.
    if (signal.aborted) throw thrown;
    throw toReportedError(defects, thrown);
  }
  const unread = { platformMessageId: createMissingReceiptId(part) };
  return validateReturnValue(defects, 'send', ReceiptShape, returned, unread);
}

const Kind = <Name extends ChannelFailure['kind']>(kind: Name) =>
  z.object({ kind: z.literal(kind) });
const Failure: z.ZodType<ChannelFailure> = z.discriminatedUnion('kind', [
  Kind('rate-limited').extend({ retryAfterMs: Ms, scope: z.enum(['chat', 'account']) }),
  Kind('refused-format'),
  Kind('gone'),
  Kind('forbidden'),
  Kind('refused'),
  Kind('transient').extend({ untried: z.literal(true).exactOptional() }),
  Kind('unknown-outcome'),
]);
/**
 * A plugin may have its own copy of this package with a different class, so the check does not use
 * `instanceof`.
 */
const Thrown = z.object({ failure: Failure, message: z.string() });

/**
 * Any error other than a ChannelError leaves the outcome unknown. The error is counted but never
 * stops the account, because people in chats can write messages that make an adapter throw.
 */
function toReportedError(defects: Defects, thrown: unknown): ChannelError {
  const { data } = Thrown.safeParse(thrown);
  if (data !== undefined)
    return thrown instanceof ChannelError
      ? thrown
      : new ChannelError(data.failure, data.message, thrown);
  const reason = reasonOf(thrown);
  defects.note('send (thrown)', `it threw something other than a ChannelError: ${reason}`);
  return new ChannelError({ kind: 'unknown-outcome' }, reason, thrown);
}

function validateReturnValue<Result, Otherwise>(
  defects: Defects,
  what: string,
  shape: z.ZodType<Result>,
  returned: unknown,
  otherwise: Otherwise,
): Result | Otherwise {
  const { success, data, error } = shape.safeParse(returned);
  if (success) {
    defects.pass(what);
    return data;
  }
  // The issues name fields but never contain their values.
  const [issue] = error.issues;
  const where =
    issue === undefined || issue.path.length === 0 ? 'result' : z.core.toDotPath(issue.path);
  defects.note(what, `its ${where} is wrong: ${issue?.code ?? 'unreadable'}`);
  return otherwise;
}

const Pace = z.object({ minIntervalMs: Ms, firstAfterMs: Ms.optional() }).nullable();

function checkStreaming(streaming: StreamingCapability, defects: Defects): StreamingCapability {
  const { minIntervalMs, maxLength, pace, call } = streaming;
  return {
    minIntervalMs,
    firstAfterMs: streaming.firstAfterMs,
    maxLength,
    ...(pace && {
      pace: (...asked) =>
        validateReturnValue(defects, 'pace', Pace, pace.apply(streaming, asked), null),
    }),
    update: (...of) => streaming.update(...of),
    ...(call && { call: (...of) => call.apply(streaming, of) }),
    end: (...of) => streaming.end(...of),
  };
}

const Bytes = z.instanceof(Uint8Array);

function checkFiles(files: FilesCapability, defects: Defects): FilesCapability {
  return {
    maxBytes: files.maxBytes,
    async fetch(ref, limit, signal) {
      const fetched = await files.fetch(ref, limit, signal);
      const bytes = validateReturnValue(defects, 'files.fetch', Bytes, fetched, null);
      if (bytes !== null && bytes.length <= limit) return bytes;
      if (bytes !== null) defects.note('files.fetch', 'it returned more bytes than requested');
      const message = 'The channel returned no usable file. This is a bug in the channel.';
      throw new ChannelError({ kind: 'refused' }, message);
    },
  };
}

/** A response may come from another copy of `undici`. */
const Answer = z.custom<Response>(
  (value) => Object.prototype.toString.call(value) === '[object Response]',
);

function checkHttp(http: HttpCapability, defects: Defects): HttpCapability {
  const { open, origins } = http;
  return {
    ...(open && { open }),
    ...(origins && { origins }),
    async fetch(request, door) {
      const fetched = await http.fetch(request, door);
      const answer = validateReturnValue(defects, 'http.fetch', Answer, fetched, null);
      return answer ?? new Response('The channel did not answer.\n', { status: 502 });
    },
  };
}

const Text = z.string().max(10_000);
const State: z.ZodType<ChannelState> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('starting') }),
  z.object({ kind: z.literal('pairing'), code: Text, how: z.enum(['scan', 'type']) }),
  z.object({ kind: z.literal('connected'), as: Text }),
  z.object({ kind: z.literal('standby'), holder: Text }),
  z.object({ kind: z.literal('retrying'), reason: Text, nextAttemptAt: z.number() }),
  z.object({ kind: z.literal('failed'), reason: Text, fix: Text }),
  z.object({ kind: z.literal('stopped') }),
]);

/** Validates a state reported by an adapter; undefined when the state is invalid. */
export function checkState(state: unknown, defects: Defects): ChannelState | undefined {
  return validateReturnValue(defects, 'report', State, state, undefined);
}

/** Some facts about a sender grant rights: only a strict `true` counts. */
export function checkSenderFacts(facts: SenderFacts | undefined, defects: Defects): SenderFacts {
  const { isAdministrator, roles, earlier, opensThread } = facts ?? {};
  return {
    ...(opensThread === true && { opensThread }),
    ...(isAdministrator && {
      isAdministrator: async (signal) =>
        validateReturnValue(
          defects,
          'isAdministrator',
          z.boolean(),
          await isAdministrator(signal),
          false,
        ),
    }),
    ...(roles && {
      roles: async (signal) =>
        validateReturnValue(defects, 'roles', z.array(Id), await roles(signal), []),
    }),
    ...(earlier && {
      earlier: async (signal) =>
        validateReturnValue(defects, 'earlier', z.array(InboundMessage), await earlier(signal), []),
    }),
  };
}

const STOPPING: readonly string[] = ['send', 'findSent', 'chatName', 'pace', 'report'];

/**
 * The function that returned too many invalid results in a row, for which the account must stop;
 * undefined when there is none. Results that depend on what people send, such as files and
 * requests, are replaced individually and never stop the account.
 */
export function findFatalDefect(defects: Pick<Defects, 'isOff'>): string | undefined {
  return STOPPING.find((what) => defects.isOff(what));
}
