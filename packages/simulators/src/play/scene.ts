import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Simulator } from './simulator.ts';
import { PlayerAct, type SimulatedMessage, type SimulatedWorld } from './world.ts';

/** The visible part of one of the bot's messages; absent fields are not compared. */
const Shown = z.strictObject({
  chat: z.string(),
  /** The key of the message, such as `bot:2` for the bot's second message in this chat. */
  message: z.string(),
  text: z.string().optional(),
  /** A regular expression that the text must match, used instead of `text`. */
  matches: z.string().optional(),
  buttons: z.array(z.string()).optional(),
  files: z.array(z.string()).optional(),
  reactions: z.array(z.string()).optional(),
  replyTo: z.string().optional(),
  gone: z.literal(true).optional(),
});
export type RecordedMessage = z.infer<typeof Shown>;

const at = z.number().min(0).optional();
/**
 * One line of a scene; `at` is in ms since the start of the recording and has no effect on
 * playback.
 */
const SceneLine = z.union([
  z.strictObject({ at, act: PlayerAct }),
  z.strictObject({ at, shown: Shown }),
]);
export type SceneLine = z.infer<typeof SceneLine>;

/**
 * A scene: the players' acts in order, each preceded by the messages that were visible before the
 * act.
 */
export type Scene = readonly SceneLine[];

/**
 * Parses JSON lines; skips empty lines and comments starting with `#`. Throws an error with the
 * number of the invalid line.
 */
export function readScene(text: string): Scene {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    try {
      return [SceneLine.parse(JSON.parse(line))];
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new Error(`Line ${index + 1} of the scene is invalid: ${reason}`);
    }
  });
}

/** Formats a scene as JSON lines. */
export function writeScene(scene: Scene): string {
  return scene.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A recording in progress; `stop` ends it. */
export interface Recording {
  scene(): Scene;
  /** Records the currently visible messages and ends the recording. */
  stop(): Scene;
}

/**
 * Records the players' acts and the bot's messages. `onLine` receives each line immediately, for
 * example to write it to a file.
 */
export function recordScene(
  simulator: Simulator,
  onLine: (line: SceneLine) => void = () => {},
): Recording {
  const start = simulator.world().now;
  const lines: SceneLine[] = [];
  const recorded = new Map<string, RecordedMessage>();
  const add = (line: SceneLine): void => {
    lines.push(line);
    onLine(line);
  };
  const look = (): number => {
    const world = simulator.world();
    const at = Math.max(0, Math.round(world.now - start));
    const shown = collectBotMessages(world);
    for (const [key, one] of shown) {
      const before = recorded.get(key);
      if (!isDeepStrictEqual(before, one)) add({ at, shown: omitEmptyLists(one, before) });
    }
    for (const [key, { chat, message, gone }] of recorded) {
      if (shown.has(key) || gone) continue;
      shown.set(key, { chat, message, gone: true });
      add({ at, shown: { chat, message, gone: true } });
    }
    for (const [key, one] of shown) recorded.set(key, one);
    return at;
  };
  // An act may be a response to earlier messages, so a replay waits for those messages.
  const stop = simulator.watch({
    act: (act) => {
      // The clock is read before the act, because the act may advance it.
      add({ at: look(), act });
    },
  });
  return {
    scene: () => lines,
    stop: () => {
      stop();
      look();
      return lines;
    },
  };
}

/** The options for playing a scene; each has a default. */
export interface PlayOptions {
  /** The maximum wait for a message, in ms; 30 s when absent. */
  readonly patienceMs?: number;
  /**
   * The period without changes after which a message that differs from the recording counts as
   * final, in ms; 2 s when absent.
   */
  readonly settleMs?: number;
  /** Text that differs on every run, such as codes and times; it is ignored in the comparison. */
  readonly ignore?: readonly RegExp[];
}

export type SceneDifference =
  | { readonly kind: 'missing'; readonly expected: RecordedMessage }
  | {
      readonly kind: 'different';
      readonly expected: RecordedMessage;
      readonly seen: RecordedMessage;
    }
  | { readonly kind: 'unexpected'; readonly seen: RecordedMessage }
  /** An act that was impossible, such as pressing a missing button. */
  | { readonly kind: 'impossible'; readonly act: PlayerAct; readonly reason: string };

/** Approval and pairing codes, which differ on every run. */
export const CODES = /(?<=\b(?:approve|deny|pair|code is) )[A-Z0-9]{6,8}\b/g;

const TIMEOUT_MS = 30_000;
const SETTLE_MS = 2_000;

/**
 * Plays the acts of a scene and resolves with the differences between the recorded and the final
 * state of each message. Before each act, waits for the messages recorded before it; the timing of
 * the recording is ignored.
 */
export async function playScene(
  simulator: Simulator,
  scene: Scene,
  { patienceMs = TIMEOUT_MS, settleMs = SETTLE_MS, ignore = [CODES] }: PlayOptions = {},
): Promise<SceneDifference[]> {
  const isSame = (expected: RecordedMessage, seen: RecordedMessage | undefined) =>
    matchesExpected(expected, seen, ignore);
  const expected = new Map<string, RecordedMessage>();
  const impossible: SceneDifference[] = [];
  for (const line of scene) {
    if ('act' in line) {
      const { act } = line;
      await simulator.act(act).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        impossible.push({ kind: 'impossible', act, reason });
      });
    } else {
      const { shown } = line;
      expected.set(toMessageKey(shown), shown);
      const look = () => collectBotMessages(simulator.world()).get(toMessageKey(shown));
      await waitUntil(simulator, () => isSame(shown, look()), { patienceMs, settleMs }, look);
    }
  }
  // Unexpected messages may still arrive after the last expected one.
  const texts = () => JSON.stringify([...collectBotMessages(simulator.world())]);
  await waitUntil(simulator, () => false, { patienceMs: settleMs, settleMs }, texts);
  const seen = collectBotMessages(simulator.world());
  const differences = [...expected].flatMap(([key, one]): SceneDifference[] => {
    const now = seen.get(key);
    if (isSame(one, now)) return [];
    if (now === undefined) return [{ kind: 'missing', expected: one }];
    return [{ kind: 'different', expected: one, seen: now }];
  });
  const more = [...seen].filter(([key]) => !expected.has(key));
  return [
    ...impossible,
    ...differences,
    ...more.map(([, one]) => ({ kind: 'unexpected', seen: one }) as const),
  ];
}

export function describeSceneDifference(difference: SceneDifference): string {
  const placeOf = ({ chat, message }: RecordedMessage) => `${chat} ${message}`;
  switch (difference.kind) {
    case 'missing':
      return `${placeOf(difference.expected)} is missing: ${formatMessageText(difference.expected)}`;
    case 'unexpected':
      return `${placeOf(difference.seen)} was not expected: ${formatMessageText(difference.seen)}`;
    case 'different': {
      const { expected, seen } = difference;
      return `${placeOf(seen)} is different\n  expected: ${formatMessageText(expected)}\n  seen:     ${formatMessageText(seen)}`;
    }
    case 'impossible':
      return `Act failed: ${JSON.stringify(difference.act)}: ${difference.reason}`;
  }
}

function formatMessageText(shown: RecordedMessage): string {
  const { chat: _chat, message: _message, ...rest } = omitEmptyLists(shown);
  return JSON.stringify(rest);
}

function toMessageKey({ chat, message }: RecordedMessage): string {
  return `${chat} ${message}`;
}

/** Returns the bot's messages in all chats. */
function collectBotMessages({ chats }: SimulatedWorld): Map<string, RecordedMessage> {
  const all = chats.flatMap(({ key: chat, messages }) =>
    messages
      .filter(({ from, isGrowing }) => from === 'bot' && !isGrowing)
      .map((message) => toRecordedMessage(chat, message)),
  );
  return new Map(all.map((one) => [toMessageKey(one), one]));
}

function toRecordedMessage(chat: string, message: SimulatedMessage): RecordedMessage {
  const { key, text, buttons, files, reactions, replyTo, isDeleted } = message;
  if (isDeleted) return { chat, message: key, gone: true };
  return {
    ...{ chat, message: key, text, buttons: [...buttons], files: files.map(({ name }) => name) },
    reactions: reactions.map(({ emoji, by }) => `${emoji} ${by.join(', ')}`),
    ...(replyTo !== undefined && { replyTo }),
  };
}

/** Omits empty lists, except lists that had entries before. */
function omitEmptyLists(shown: RecordedMessage, before?: RecordedMessage): RecordedMessage {
  const { buttons = [], files = [], reactions = [], ...rest } = shown;
  const had = (list: readonly string[] | undefined) => (list?.length ?? 0) > 0;
  return {
    ...rest,
    ...((had(buttons) || had(before?.buttons)) && { buttons }),
    ...((had(files) || had(before?.files)) && { files }),
    ...((had(reactions) || had(before?.reactions)) && { reactions }),
  };
}

function matchesExpected(
  expected: RecordedMessage,
  seen: RecordedMessage | undefined,
  ignore: readonly RegExp[],
): boolean {
  if (seen === undefined) return expected.gone === true;
  const { text, matches, ...rest } = expected;
  const { text: seenText = '' } = seen;
  const isLike = Object.entries(rest).every(([name, value]) =>
    isDeepStrictEqual(value, seen[name as keyof RecordedMessage]),
  );
  if (!isLike) return false;
  if (matches !== undefined) return new RegExp(matches, 'u').test(seenText);
  const bare = (one: string) => ignore.reduce((left, what) => left.replaceAll(what, '…'), one);
  return text === undefined || bare(text) === bare(seenText);
}

/**
 * Waits until `isThere` returns true; gives up after `patienceMs`, or when an existing value has
 * not changed for `settleMs`.
 */
function waitUntil(
  simulator: Simulator,
  isThere: () => boolean,
  { patienceMs, settleMs }: { readonly patienceMs: number; readonly settleMs: number },
  look: () => unknown,
): Promise<void> {
  return new Promise((resolve) => {
    let last: unknown;
    let quiet: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(quiet);
      clearTimeout(patience);
      stop();
      resolve();
    };
    const change = (): void => {
      if (isThere()) {
        end();
        return;
      }
      const now = look();
      if (now === undefined || isDeepStrictEqual(now, last)) return;
      last = now;
      clearTimeout(quiet);
      quiet = setTimeout(end, settleMs);
    };
    const patience = setTimeout(end, patienceMs);
    const stop = simulator.watch({ change });
    change();
  });
}
