/** A command for the platform's menu. Names are lower-case, and summaries are short. */
export interface CommandInfo {
  readonly name: string;
  readonly summary: string;
  /** Only the sender of the command sees its answer, on platforms that support it. */
  readonly private?: true;
  /**
   * Whether the command belongs to a skill; a menu with too few entries leaves out skills first.
   */
  readonly isSkill?: true;
  /**
   * The command's arguments as shown to people: `CODE`, `[message]`. Absent when the command has no
   * arguments, or when a skill defines it and its arguments are unknown.
   */
  readonly takes?: string;
}

/** The limits of a platform's command menu. */
export interface MenuLimits {
  readonly commands: number;
  /** The maximum length of a description, and the unit in which it is counted. */
  readonly description: { readonly max: number; readonly unit: 'utf16' | 'codepoint' };
  /**
   * The maximum size of the whole list as sent, in bytes; absent when the platform has no such
   * limit.
   */
  readonly size?: { readonly max: number; readonly of: (items: readonly MenuItem[]) => number };
  readonly name: RegExp;
  /** The name of a command on that platform, if it differs. */
  readonly nameOf?: (name: string) => string;
}

/** An entry of a menu, before conversion to the platform's format. */
export interface MenuItem {
  readonly name: string;
  readonly description: string;
  readonly private?: true;
}

/** A command that was left out of the menu; it still works when it is typed. */
export interface OmittedCommand {
  readonly name: string;
  readonly why: 'name' | 'twice' | 'room';
}

/** A menu that its platform accepts, and the entries that were shortened or left out. */
export interface FittedMenu {
  readonly items: readonly MenuItem[];
  readonly leftOut: readonly OmittedCommand[];
  /**
   * The length that descriptions were shortened to so that the whole list fits; null when they were
   * not shortened.
   */
  readonly shortenedTo: number | null;
}

/** How often each command was typed recently; names without an entry were not typed. */
export type CommandUses = ReadonlyMap<string, number>;

/** Descriptions are not shortened below this length; commands are left out instead. */
const MIN_DESCRIPTION = 20;

/**
 * Fits commands into a menu (F09). First, descriptions are shortened, starting with the longest. If
 * the list still does not fit, commands are left out: the least used command first if `uses` is
 * given, and the last command among equals. Commands without `isSkill` are built in and are left
 * out last. The menu keeps the order of `commands`. Pure.
 */
export function fitMenu(
  commands: readonly CommandInfo[],
  limits: MenuLimits,
  uses: CommandUses = new Map(),
): FittedMenu {
  const { legal, leftOut } = toValidMenuItems(commands, limits);
  const kept = legal.toSorted(compareByImportance(uses));
  const fits = (count: number, length: number) =>
    limits.size === undefined ||
    limits.size.of(shortenItems(kept.slice(0, count), length)) <= limits.size.max;
  const allowed = Math.min(kept.length, limits.commands);
  const longest = Math.max(0, ...kept.map(({ item }) => item.description.length));
  const length = findLargest(longest, MIN_DESCRIPTION, (one) => fits(allowed, one));
  const count = findLargest(allowed, 0, (one) => fits(one, length));
  const shown = new Set(kept.slice(0, count));
  const inOrder = legal.filter((one) => shown.has(one));
  return {
    items: shortenItems(inOrder, length),
    leftOut: [
      ...leftOut,
      ...kept
        .slice(count)
        .map(({ command }): OmittedCommand => ({ name: command.name, why: 'room' })),
    ],
    shortenedTo: inOrder.some(({ item }) => item.description.length > length) ? length : null,
  };
}

interface ValidMenuItem {
  readonly command: CommandInfo;
  readonly item: MenuItem;
  /** The position of the command in the list. */
  readonly nth: number;
}

function toValidMenuItems(commands: readonly CommandInfo[], limits: MenuLimits) {
  const { name: isLegal, nameOf = (name: string) => name } = limits;
  const taken = new Set<string>();
  const legal: ValidMenuItem[] = [];
  const leftOut: OmittedCommand[] = [];
  for (const [nth, command] of commands.entries()) {
    const name = nameOf(command.name);
    const why = !isLegal.test(name) ? 'name' : taken.has(name) ? 'twice' : null;
    if (why === null) {
      taken.add(name);
      const summary = command.summary
        .toWellFormed()
        .replaceAll(/[\s\p{Cc}]+/gu, ' ')
        .trim();
      const description = truncateDescription(summary === '' ? name : summary, limits.description);
      const item = { name, description, ...(command.private && { private: command.private }) };
      legal.push({ command, item, nth });
    } else leftOut.push({ name: command.name, why });
  }
  return { legal, leftOut };
}

function truncateDescription(text: string, { max, unit }: MenuLimits['description']): string {
  if (unit === 'codepoint') return [...text].slice(0, max).join('');
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

function compareByImportance(uses: CommandUses) {
  return (a: ValidMenuItem, b: ValidMenuItem): number =>
    Number(a.command.isSkill ?? false) - Number(b.command.isSkill ?? false) ||
    (uses.get(b.command.name) ?? 0) - (uses.get(a.command.name) ?? 0) ||
    a.nth - b.nth;
}

function shortenItems(items: readonly ValidMenuItem[], length: number): readonly MenuItem[] {
  return items.map(({ item }) => ({
    ...item,
    description: shortenWords(item.description, length),
  }));
}

/**
 * Shortens a text to at most `length` UTF-16 units, cutting between words unless that would lose
 * half of it.
 */
export function shortenWords(text: string, length: number): string {
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

/**
 * The largest integer from `low` to `high` for which `fits` holds; `low` when it holds for none.
 */
function findLargest(high: number, low: number, fits: (count: number) => boolean): number {
  let least = Math.min(low, high);
  let most = high;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

/**
 * One sentence about shortened or missing menu entries, for logs, the owner's note and `parley
 * doctor`; null when the menu is complete.
 */
export function describeOmittedCommands(
  platform: string,
  leftOut: readonly OmittedCommand[],
): string | null {
  const of = (why: OmittedCommand['why']) =>
    leftOut.filter((one) => one.why === why).map(({ name }) => `/${name}`);
  const room = of('room');
  const illegal = [...of('name'), ...of('twice')];
  const sentences = [
    ...(room.length === 0
      ? []
      : [`${platform}'s menu has no room for ${room.join(', ')}, which are used least.`]),
    ...(illegal.length === 0
      ? []
      : [`${platform}'s menu does not accept a command called ${illegal.join(', ')}.`]),
  ];
  return sentences.length === 0 ? null : `${sentences.join(' ')} They work when they are typed.`;
}
