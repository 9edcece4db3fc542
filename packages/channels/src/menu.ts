/** A command for the platform's own menu. Names are lower case, summaries short. */
export interface CommandInfo {
  readonly name: string;
  readonly summary: string;
  /** Only the person who sends the command sees its answer, where the platform can do that. */
  readonly private?: true;
  /** It belongs to a skill; a menu without room for every command leaves these out first. */
  readonly isSkill?: true;
  /** Arguments as people read them: `CODE`, `[message]`. Absent: it reads none, or it is a skill's and they are unknown. */
  readonly takes?: string;
}

/** The limits of a platform's menu of commands. */
export interface MenuLimits {
  /** Commands in all. */
  readonly commands: number;
  /** Longest description, and what it is counted in. */
  readonly description: { readonly max: number; readonly unit: 'utf16' | 'codepoint' };
  /** The whole list as it is sent, in bytes; absent: it has no limit of its own. */
  readonly size?: { readonly max: number; readonly of: (items: readonly MenuItem[]) => number };
  /** Names that the platform takes. */
  readonly name: RegExp;
  /** The name of a command there, where it differs. */
  readonly nameOf?: (name: string) => string;
}

/** An entry of a menu, before it is brought into the platform's form. */
export interface MenuItem {
  readonly name: string;
  readonly description: string;
  /** See `CommandInfo`. */
  readonly private?: true;
}

/** A command that is not in a menu; it works all the same when it is typed. */
export interface LeftOut {
  readonly name: string;
  readonly why: 'name' | 'twice' | 'room';
}

/** A menu that its platform takes, and what was done to make it fit. */
export interface FittedMenu {
  readonly items: readonly MenuItem[];
  readonly leftOut: readonly LeftOut[];
  /** The length that descriptions were shortened to so that the whole list fits; null: they were not. */
  readonly shortenedTo: number | null;
}

/** The number of times commands were typed lately; missing names were not typed. */
export type CommandUses = ReadonlyMap<string, number>;

/** Descriptions are not shortened below this length to make room; commands are left out instead. */
const MIN_DESCRIPTION = 20;

/**
 * Fits commands into a menu (F09). Descriptions are shortened first, the longest ones first; only when all are at their
 * shortest are commands left out: of those with `uses` the least used, and of equal ones the last. The commands without
 * `isSkill` are Parley's own and stay the longest. The order of the menu is that of `commands`. Pure.
 */
export function fitMenu(
  commands: readonly CommandInfo[],
  limits: MenuLimits,
  uses: CommandUses = new Map(),
): FittedMenu {
  const { legal, leftOut } = legalItems(commands, limits);
  const kept = legal.toSorted(byImportance(uses));
  const fits = (count: number, length: number) =>
    limits.size === undefined ||
    limits.size.of(shortenedItems(kept.slice(0, count), length)) <= limits.size.max;
  const allowed = Math.min(kept.length, limits.commands);
  const longest = Math.max(0, ...kept.map(({ item }) => item.description.length));
  const length = largestThat(longest, MIN_DESCRIPTION, (one) => fits(allowed, one));
  const count = largestThat(allowed, 0, (one) => fits(one, length));
  const shown = new Set(kept.slice(0, count));
  const inOrder = legal.filter((one) => shown.has(one));
  return {
    items: shortenedItems(inOrder, length),
    leftOut: [
      ...leftOut,
      ...kept.slice(count).map(({ command }): LeftOut => ({ name: command.name, why: 'room' })),
    ],
    shortenedTo: inOrder.some(({ item }) => item.description.length > length) ? length : null,
  };
}

interface LegalItem {
  readonly command: CommandInfo;
  readonly item: MenuItem;
  /** Its place in the list of commands. */
  readonly nth: number;
}

function legalItems(commands: readonly CommandInfo[], limits: MenuLimits) {
  const { name: isLegal, nameOf = (name: string) => name } = limits;
  const taken = new Set<string>();
  const legal: LegalItem[] = [];
  const leftOut: LeftOut[] = [];
  for (const [nth, command] of commands.entries()) {
    const name = nameOf(command.name);
    const why = !isLegal.test(name) ? 'name' : taken.has(name) ? 'twice' : null;
    if (why === null) {
      taken.add(name);
      const summary = command.summary
        .toWellFormed()
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
      const description = cutDescription(summary === '' ? name : summary, limits.description);
      const item = { name, description, ...(command.private && { private: command.private }) };
      legal.push({ command, item, nth });
    } else leftOut.push({ name: command.name, why });
  }
  return { legal, leftOut };
}

function cutDescription(text: string, { max, unit }: MenuLimits['description']): string {
  if (unit === 'codepoint') return [...text].slice(0, max).join('');
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

function byImportance(uses: CommandUses) {
  return (a: LegalItem, b: LegalItem): number =>
    Number(a.command.isSkill ?? false) - Number(b.command.isSkill ?? false) ||
    (uses.get(b.command.name) ?? 0) - (uses.get(a.command.name) ?? 0) ||
    a.nth - b.nth;
}

function shortenedItems(items: readonly LegalItem[], length: number): readonly MenuItem[] {
  return items.map(({ item }) => ({
    ...item,
    description: shortenedText(item.description, length),
  }));
}

/** A text of at most `length` UTF-16 units, cut between words where that does not lose half of it. */
export function shortenedText(text: string, length: number): string {
  if (text.length <= length) return text;
  let start = '';
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, length + 1))) {
    if (start.length + segment.length > length - 1) break;
    start += segment;
  }
  const atWord = /^(.*\S)\s+\S*$/s.exec(start)?.[1];
  const isWhole = /^\s/.test(text.slice(start.length));
  const shown = !isWhole && atWord !== undefined && atWord.length > length / 2 ? atWord : start;
  return `${shown.replace(/[\s,;:–—-]+$/u, '')}…`;
}

/** The largest whole number from `low` to `high` for which `fits` holds; `low` where it holds for none. */
function largestThat(high: number, low: number, fits: (count: number) => boolean): number {
  let least = Math.min(low, high);
  let most = high;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** For logs, the owner's note and `parley doctor`: what a menu lacks, in one sentence; null: nothing. */
export function leftOutText(platform: string, leftOut: readonly LeftOut[]): string | null {
  const of = (why: LeftOut['why']) =>
    leftOut.filter((one) => one.why === why).map(({ name }) => `/${name}`);
  const room = of('room');
  const illegal = [...of('name'), ...of('twice')];
  const sentences = [
    ...(room.length === 0
      ? []
      : [`${platform}'s menu has no room for ${room.join(', ')}, used least.`]),
    ...(illegal.length === 0
      ? []
      : [`${platform}'s menu takes no command called ${illegal.join(', ')}.`]),
  ];
  return sentences.length === 0 ? null : `${sentences.join(' ')} They work when they are typed.`;
}
