import { NO_MARKS, type RowMarks } from './rows.ts';

/** The storage key, for this origin alone. */
const KEY = 'parley.inbox';
/** Rows of each kind that are remembered. */
const MAX_REMEMBERED = 200;

/** Which rows are pinned, archived and renamed in this browser. */
export function readMarks(storage: Pick<Storage, 'getItem'>): RowMarks {
  try {
    const { pinned, archived, names } = JSON.parse(storage.getItem(KEY) ?? 'null');
    if (isIds(pinned) && isIds(archived) && isNames(names)) return { pinned, archived, names };
  } catch {
    // Nothing, or nothing of use, is stored.
  }
  return NO_MARKS;
}

export function keepMarks(storage: Pick<Storage, 'setItem'>, marks: RowMarks): void {
  try {
    storage.setItem(KEY, JSON.stringify(marks));
  } catch {
    // The browser's quota is used up: the marks last until the page is reloaded.
  }
}

/** The marks with one more pinned or archived row, or with one less where it was. */
export function toggled(marks: RowMarks, kind: 'pinned' | 'archived', id: string): RowMarks {
  const known = marks[kind];
  const next = known.includes(id) ? known.filter((one) => one !== id) : [id, ...known];
  return { ...marks, [kind]: next.slice(0, MAX_REMEMBERED) };
}

/** The marks with another name of a row; an empty one takes the name away. */
export function renamed(marks: RowMarks, id: string, name: string): RowMarks {
  const { [id]: _, ...others } = marks.names;
  const kept = Object.entries(others).slice(0, MAX_REMEMBERED - 1);
  const names = name.trim() === '' ? kept : [[id, name.trim()] as const, ...kept];
  return { ...marks, names: Object.fromEntries(names) };
}

function isIds(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isNames(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((one) => typeof one === 'string')
  );
}
