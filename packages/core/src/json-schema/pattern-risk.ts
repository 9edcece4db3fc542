import { type PatternNode, parsePattern } from './pattern-tree.ts';

/** The maximum length of a third-party regular expression, in characters. */
const MAX_PATTERN_LENGTH = 1_000;

/** The maximum size of the automaton, counted in character sets. */
const MAX_POSITIONS = 1_000;
/** A fixed count (`{4}`) is unrolled up to this size; a larger count becomes a loop. */
const MAX_WRITTEN_OUT = 128;
/** The maximum number of steps for analyzing one pattern; they take a few ms. */
const MAX_STEPS = 100_000;

/**
 * Explains why a regular expression must not run on third-party text; null if no reason is found.
 * It searches for repetitions that can match the same text in several ways, such as `(a+)+`,
 * `(a|aa)*` or `(\w+\s?)*`, whose running time doubles with each character. Patterns that are only
 * slow on long text are accepted, so matching still requires a time limit.
 */
export function findPatternRisk(source: string, flags = ''): string | null {
  const { length } = source;
  if (length > MAX_PATTERN_LENGTH) {
    return `it has ${length} characters; at most ${MAX_PATTERN_LENGTH} are allowed`;
  }
  try {
    new RegExp(source, flags);
    const tree = parsePattern(source, flags);
    const sets = new CharacterSets(source, flags);
    return [tree, ...listLookarounds(tree)].some((part) => isAmbiguous(part, sets))
      ? 'a repetition in it can match the same text in several ways, which can take forever; let each repetition start with a character that occurs nowhere else in it'
      : null;
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read';
  }
}

/** The bodies of all lookaheads and lookbehinds; each is a separate expression. */
function listLookarounds(node: PatternNode): readonly PatternNode[] {
  switch (node.kind) {
    case 'empty':
    case 'set':
      return [];
    case 'look':
      return [node.body, ...listLookarounds(node.body)];
    case 'repeat':
      return listLookarounds(node.body);
    case 'sequence':
    case 'choice':
      return node.items.flatMap(listLookarounds);
  }
}

/** Characters that represent all those not in the pattern. */
const SAMPLES = [
  ...Array.from({ length: 256 }, (_, code) => code),
  ...[...'ſKıſßéΩжאعअก中あア한\u2028\u3000\u200d\ufeff€①²😀'].map(
    (sign) => sign.codePointAt(0) ?? 0,
  ),
];

/** Determines, with samples, which characters the sets of a pattern have in common. */
class CharacterSets {
  readonly #samples: readonly string[];
  readonly #flags: string;
  readonly #members = new Map<string, ReadonlySet<string>>();
  readonly #overlaps = new Map<string, boolean>();

  constructor(source: string, flags: string) {
    const own = [...source].flatMap((sign) => {
      const code = sign.codePointAt(0) ?? 0;
      return [code - 1, code, code + 1].filter((one) => one >= 0 && one <= 0x10ffff);
    });
    this.#samples = [...new Set([...SAMPLES, ...own])].map((code) => String.fromCodePoint(code));
    this.#flags = flags.replaceAll(/[gy]/g, '');
  }

  overlap(one: string, other: string): boolean {
    if (one === other) return true;
    const key = one < other ? `${one}\n${other}` : `${other}\n${one}`;
    const known = this.#overlaps.get(key);
    if (known !== undefined) return known;
    const overlaps = !this.#membersOf(one).isDisjointFrom(this.#membersOf(other));
    this.#overlaps.set(key, overlaps);
    return overlaps;
  }

  #membersOf(source: string): ReadonlySet<string> {
    const known = this.#members.get(source);
    if (known !== undefined) return known;
    const set = new RegExp(`^(?:${source})$`, this.#flags);
    const members = new Set(this.#samples.filter((sample) => set.test(sample)));
    this.#members.set(source, members);
    return members;
  }
}

/**
 * Counts the paths to each next position; more than one means that the position can be reached in
 * several ways.
 */
type PathCounts = Map<number, number>;

/** A part of the automaton: the positions where it can start and end. */
interface AutomatonPart {
  readonly isNullable: boolean;
  readonly first: PathCounts;
  readonly last: PathCounts;
}

/** Glushkov's automaton: a state for each set of characters, and the transitions between them. */
interface Automaton {
  readonly sets: string[];
  readonly next: PathCounts[];
  /** Throws when the analysis has taken too many steps. */
  readonly countStep: () => void;
}

function isAmbiguous(tree: PatternNode, sets: CharacterSets): boolean {
  let steps = 0;
  const countStep = (): void => {
    steps += 1;
    if (steps > MAX_STEPS) throw new Error('it is too complex to be checked; make it shorter');
  };
  const automaton: Automaton = { sets: [], next: [], countStep };
  addAutomatonPart(automaton, tree);
  return findLoops(automaton).some((loop) => hasMultiplePaths(automaton, loop, sets));
}

const NOTHING: AutomatonPart = { isNullable: true, first: new Map(), last: new Map() };

function addAutomatonPart(automaton: Automaton, node: PatternNode): AutomatonPart {
  switch (node.kind) {
    case 'empty':
    case 'look':
      return NOTHING;
    case 'set': {
      const position = automaton.sets.push(node.source) - 1;
      if (position >= MAX_POSITIONS) throw new Error('it is too large; make it shorter');
      automaton.next.push(new Map());
      return {
        isNullable: false,
        first: new Map([[position, 1]]),
        last: new Map([[position, 1]]),
      };
    }
    case 'sequence':
      return node.items
        .map((item) => addAutomatonPart(automaton, item))
        .reduce((before, part) => concatenateParts(automaton, before, part), NOTHING);
    case 'choice': {
      const parts = node.items.map((item) => addAutomatonPart(automaton, item));
      return {
        isNullable: parts.some(({ isNullable }) => isNullable),
        first: sumPathCounts(parts.map(({ first }) => first)),
        last: sumPathCounts(parts.map(({ last }) => last)),
      };
    }
    case 'repeat':
      return addRepeat(automaton, node);
  }
}

function addRepeat(
  automaton: Automaton,
  { body, min, max }: Extract<PatternNode, { kind: 'repeat' }>,
): AutomatonPart {
  if (max === 0) return NOTHING;
  const before = automaton.sets.length;
  const part = addAutomatonPart(automaton, body);
  const size = automaton.sets.length - before;
  if (max === 1) return { ...part, isNullable: part.isNullable || min === 0 };
  if (min === max && size * max <= MAX_WRITTEN_OUT) {
    let all = part;
    for (let copy = 1; copy < max; copy += 1) {
      all = concatenateParts(automaton, all, addAutomatonPart(automaton, body));
    }
    return all;
  }
  linkPositions(automaton, part.last, part.first);
  return { ...part, isNullable: part.isNullable || min === 0 };
}

function concatenateParts(
  automaton: Automaton,
  before: AutomatonPart,
  after: AutomatonPart,
): AutomatonPart {
  linkPositions(automaton, before.last, after.first);
  return {
    isNullable: before.isNullable && after.isNullable,
    first: before.isNullable ? sumPathCounts([before.first, after.first]) : before.first,
    last: after.isNullable ? sumPathCounts([before.last, after.last]) : after.last,
  };
}

function linkPositions({ next, countStep }: Automaton, from: PathCounts, to: PathCounts): void {
  for (const [position, ways] of from) {
    const known = next[position];
    for (const [target, others] of to) {
      countStep();
      known?.set(target, (known.get(target) ?? 0) + ways * others);
    }
  }
}

function sumPathCounts(all: readonly PathCounts[]): PathCounts {
  const sum: PathCounts = new Map();
  for (const ways of all) {
    for (const [position, count] of ways) sum.set(position, (sum.get(position) ?? 0) + count);
  }
  return sum;
}

/** Returns the sets of positions that can reach each other. */
function findLoops({ next, countStep }: Automaton): readonly ReadonlySet<number>[] {
  const before: PathCounts[] = next.map(() => new Map());
  for (const [from, ways] of next.entries()) {
    for (const to of ways.keys()) before[to]?.set(from, 1);
  }
  const seen = new Set<number>();
  const loops: ReadonlySet<number>[] = [];
  for (const start of next.keys()) {
    if (seen.has(start)) continue;
    const behind = findReachable(next, start, countStep);
    if (!behind.has(start)) continue;
    const loop = behind.intersection(findReachable(before, start, countStep));
    for (const position of loop) seen.add(position);
    loops.push(loop);
  }
  return loops;
}

/** Returns the positions reachable from `start`, which includes `start` itself only in a loop. */
function findReachable(
  next: readonly PathCounts[],
  start: number,
  countStep: () => void,
): Set<number> {
  const found = new Set<number>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const target of next[at]?.keys() ?? []) {
      countStep();
      if (!found.has(target)) open.push(target);
      found.add(target);
    }
  }
  return found;
}

/**
 * Whether two different paths through a loop match the same text: two positions that start as one,
 * diverge and meet again.
 */
function hasMultiplePaths(
  { next, sets, countStep }: Automaton,
  loop: ReadonlySet<number>,
  characters: CharacterSets,
): boolean {
  const seen = new Set<string>();
  const open: (readonly [number, number])[] = [...loop].map((position) => [position, position]);
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [one, other] = pair;
    for (const [a, ways] of next[one] ?? []) {
      if (!loop.has(a)) continue;
      if (one === other && ways > 1) return true;
      for (const b of next[other]?.keys() ?? []) {
        countStep();
        if (!loop.has(b) || (one === other && a === b)) continue;
        if (!characters.overlap(sets[a] ?? '', sets[b] ?? '')) continue;
        if (a === b) return true;
        const key = a < b ? `${a} ${b}` : `${b} ${a}`;
        if (!seen.has(key)) open.push([a, b]);
        seen.add(key);
      }
    }
  }
  return false;
}
