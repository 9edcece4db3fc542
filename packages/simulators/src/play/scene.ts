import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Simulator } from './simulator.ts';
import { Act, type SimulatedMessage, type SimulatedWorld } from './world.ts';

/** The visible part of one message of the bot. Absent fields are not compared. */
const Shown = z.strictObject({
  chat: z.string(),
  /** Such as `bot:2`: the second one of the bot in this chat. */
  message: z.string(),
  text: z.string().optional(),
  /** In place of `text`: a regular expression that is found in it. */
  matches: z.string().optional(),
  buttons: z.array(z.string()).optional(),
  files: z.array(z.string()).optional(),
  reactions: z.array(z.string()).optional(),
  replyTo: z.string().optional(),
  /** It was deleted again. */
  gone: z.literal(true).optional(),
});
export type Shown = z.infer<typeof Shown>;

const at = z.number().min(0).optional();
/** One line of a scene; `at` is in ms since its start and only says how it was. */
const SceneLine = z.union([z.strictObject({ at, act: Act }), z.strictObject({ at, shown: Shown })]);
export type SceneLine = z.infer<typeof SceneLine>;

/** The acts of players in order, with the bot's messages before each next act. */
export type Scene = readonly SceneLine[];

/** Reads JSON lines; empty ones and those that begin with `#` are skipped. Throws with the number of a wrong line. */
export function readScene(text: string): Scene {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    try {
      return [SceneLine.parse(JSON.parse(line))];
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      throw new Error(`Line ${index + 1} of the scene is not one: ${reason}`);
    }
  });
}

/** The scene as JSON lines. */
export function writeScene(scene: Scene): string {
  return scene.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** A recording that goes on until `stop`. */
export interface Recording {
  /** All lines so far. */
  scene(): Scene;
  /** Adds what is shown now, and ends. */
  stop(): Scene;
}

/** Records what players do and what the bot shows. `onLine` gets each line at once, for a file. */
export function recordScene(
  simulator: Simulator,
  onLine: (line: SceneLine) => void = () => {},
): Recording {
  const start = simulator.world().now;
  const lines: SceneLine[] = [];
  const recorded = new Map<string, Shown>();
  const add = (line: SceneLine): void => {
    lines.push(line);
    onLine(line);
  };
  const look = (): number => {
    const world = simulator.world();
    const at = Math.max(0, Math.round(world.now - start));
    const shown = shownIn(world);
    for (const [key, one] of shown) {
      const before = recorded.get(key);
      if (!isDeepStrictEqual(before, one)) add({ at, shown: telling(one, before) });
    }
    for (const [key, { chat, message, gone }] of recorded) {
      if (shown.has(key) || gone) continue;
      shown.set(key, { chat, message, gone: true });
      add({ at, shown: { chat, message, gone: true } });
    }
    for (const [key, one] of shown) recorded.set(key, one);
    return at;
  };
  // What was shown before an act is its cause; a replay waits for it.
  const stop = simulator.watch({
    act: (act) => {
      // The clock is read before the act, which may put it forward.
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

/** The options of playing a scene; everything has a default. */
export interface PlayOptions {
  /** The time for which a message is awaited, in ms; 30 s when absent. */
  readonly patienceMs?: number;
  /** A message that is not as recorded counts as finished after so long without a change, in ms; 2 s when absent. */
  readonly settleMs?: number;
  /** Text that differs each time, such as codes and times; it is left out of both texts. */
  readonly ignore?: readonly RegExp[];
}

/** One thing that was not as recorded. */
export type Difference =
  | { readonly kind: 'missing'; readonly expected: Shown }
  | { readonly kind: 'different'; readonly expected: Shown; readonly seen: Shown }
  | { readonly kind: 'unexpected'; readonly seen: Shown }
  /** A player could not do it, such as press a button that is not there. */
  | { readonly kind: 'impossible'; readonly act: Act; readonly reason: string };

/** Codes for approvals and strangers, which are new each time. */
export const CODES = /(?<=\b(?:approve|deny|pair|code is) )[A-Z0-9]{6,8}\b/g;

const TIMEOUT_MS = 30_000;
const SETTLE_MS = 2_000;

/**
 * Plays the acts of a scene; before each one it waits for what the bot had shown by then, in whatever time. Resolves with
 * what was not as recorded: of each message how it is at the end.
 */
export async function playScene(
  simulator: Simulator,
  scene: Scene,
  { patienceMs = TIMEOUT_MS, settleMs = SETTLE_MS, ignore = [CODES] }: PlayOptions = {},
): Promise<Difference[]> {
  const isSame = (expected: Shown, seen: Shown | undefined) => fits(expected, seen, ignore);
  const expected = new Map<string, Shown>();
  const impossible: Difference[] = [];
  for (const line of scene) {
    if ('act' in line) {
      const { act } = line;
      await simulator.act(act).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        impossible.push({ kind: 'impossible', act, reason });
      });
    } else {
      const { shown } = line;
      expected.set(keyOf(shown), shown);
      const look = () => shownIn(simulator.world()).get(keyOf(shown));
      await until(simulator, () => isSame(shown, look()), { patienceMs, settleMs }, look);
    }
  }
  // Whatever is too much comes after the rest.
  const texts = () => JSON.stringify([...shownIn(simulator.world())]);
  await until(simulator, () => false, { patienceMs: settleMs, settleMs }, texts);
  const seen = shownIn(simulator.world());
  const differences = [...expected].flatMap(([key, one]): Difference[] => {
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

/** One difference as text, for people. */
export function describeDifference(difference: Difference): string {
  const placeOf = ({ chat, message }: Shown) => `${chat} ${message}`;
  switch (difference.kind) {
    case 'missing':
      return `${placeOf(difference.expected)} is missing: ${textOf(difference.expected)}`;
    case 'unexpected':
      return `${placeOf(difference.seen)} was not expected: ${textOf(difference.seen)}`;
    case 'different': {
      const { expected, seen } = difference;
      return `${placeOf(seen)} is different\n  expected: ${textOf(expected)}\n  seen:     ${textOf(seen)}`;
    }
    case 'impossible':
      return `could not be done: ${JSON.stringify(difference.act)}: ${difference.reason}`;
  }
}

function textOf(shown: Shown): string {
  const { chat: _chat, message: _message, ...rest } = telling(shown);
  return JSON.stringify(rest);
}

function keyOf({ chat, message }: Shown): string {
  return `${chat} ${message}`;
}

/** The messages of the bot in all chats. */
function shownIn({ chats }: SimulatedWorld): Map<string, Shown> {
  const all = chats.flatMap(({ key: chat, messages }) =>
    messages
      .filter(({ from, isGrowing }) => from === 'bot' && !isGrowing)
      .map((message) => shownOf(chat, message)),
  );
  return new Map(all.map((one) => [keyOf(one), one]));
}

function shownOf(chat: string, message: SimulatedMessage): Shown {
  const { key, text, buttons, files, reactions, replyTo, isDeleted } = message;
  if (isDeleted) return { chat, message: key, gone: true };
  return {
    ...{ chat, message: key, text, buttons: [...buttons], files: files.map(({ name }) => name) },
    reactions: reactions.map(({ emoji, by }) => `${emoji} ${by.join(', ')}`),
    ...(replyTo !== undefined && { replyTo }),
  };
}

/** Without lists that are empty, unless they have become so. */
function telling(shown: Shown, before?: Shown): Shown {
  const { buttons = [], files = [], reactions = [], ...rest } = shown;
  const had = (list: readonly string[] | undefined) => (list?.length ?? 0) > 0;
  return {
    ...rest,
    ...((had(buttons) || had(before?.buttons)) && { buttons }),
    ...((had(files) || had(before?.files)) && { files }),
    ...((had(reactions) || had(before?.reactions)) && { reactions }),
  };
}

function fits(expected: Shown, seen: Shown | undefined, ignore: readonly RegExp[]): boolean {
  if (seen === undefined) return expected.gone === true;
  const { text, matches, ...rest } = expected;
  const { text: seenText = '' } = seen;
  const isLike = Object.entries(rest).every(([name, value]) =>
    isDeepStrictEqual(value, seen[name as keyof Shown]),
  );
  if (!isLike) return false;
  if (matches !== undefined) return new RegExp(matches, 'u').test(seenText);
  const bare = (one: string) => ignore.reduce((left, what) => left.replaceAll(what, '…'), one);
  return text === undefined || bare(text) === bare(seenText);
}

/** Waits until `isThere`; gives up after `patienceMs`, and where there is something, when it has not changed for `settleMs`. */
function until(
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
