/** A version of MEMORY.md that is kept. */
export interface MemoryVersion {
  /** Such as `2026-11-22T020014Z-001`; a later one sorts behind an earlier one. */
  readonly name: string;
  /** When it was kept, in ms. */
  readonly at: number;
}

const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-(\d{3})$/;
const LAST = 999;

/** The name of the next version: never before `newest`, also when the clock was put back. */
export function versionName(now: number, newest: MemoryVersion | undefined): string {
  const moment = stamp(now);
  if (newest === undefined || stamp(newest.at) < moment) return `${moment}-001`;
  const count = Number(NAME.exec(newest.name)?.[5] ?? 0);
  if (count === LAST) return `${stamp(newest.at + 1_000)}-001`;
  return `${stamp(newest.at)}-${String(count + 1).padStart(3, '0')}`;
}

/** Reads a name; null for what is none. */
export function readVersionName(name: string): MemoryVersion | null {
  const [, day, hours, minutes, seconds] = NAME.exec(name) ?? [];
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(at) ? null : { name, at };
}

function stamp(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replaceAll(':', '')}Z`;
}
