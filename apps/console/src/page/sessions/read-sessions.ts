import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

/** A browser that is signed in. Times in ms; `userAgent` is what it says of itself. */
export interface ShownSession {
  readonly id: string;
  readonly userAgent: string;
  /** Where it signed in, for people. */
  readonly from: string;
  readonly createdAt: number;
  readonly usedAt: number;
  readonly expiresAt: number;
  readonly isCurrent: boolean;
}

const FROM: ReadonlyMap<unknown, string> = new Map([
  ['this-machine', 'on the machine of the gateway'],
  ['local-network', 'from the local network'],
  ['internet', 'from the internet'],
  ['proxy', 'through a proxy'],
]);

/** Reads the list; null for anything else. */
export function readSessions(data: unknown): readonly ShownSession[] | null {
  const { sessions } = fieldsOf(data);
  if (!Array.isArray(sessions)) return null;
  return listOf(sessions).map((entry) => {
    const fields = fieldsOf(entry);
    return {
      id: textOf(fields.id),
      userAgent: textOf(fields.userAgent),
      from: FROM.get(fields.network) ?? '',
      createdAt: numberOf(fields.createdAt),
      usedAt: numberOf(fields.usedAt),
      expiresAt: numberOf(fields.expiresAt),
      isCurrent: fields.isCurrent === true,
    };
  });
}

/** The first that fits: most browsers also name those whose pages they want to be shown. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux`; what is not known is shown as it was sent. */
export function browserName(userAgent: string): string {
  const named = (names: typeof BROWSERS | typeof SYSTEMS): string | undefined =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = named(BROWSERS) ?? (userAgent || 'Unknown browser');
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
