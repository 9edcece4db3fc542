import { PROFILE_FILE, TASKS_FILE } from './task.ts';

/** The time zone that applies to the hours of tasks, and its source if several were possible. */
export interface OwnerZone {
  readonly timeZone: string;
  readonly why?: string;
  readonly problem?: string;
}

/** The zone from the settings, or the zone of this machine if they name none. */
export interface SettingsZone {
  readonly timeZone: string;
  readonly isMachinesTimeZone?: boolean | undefined;
}

const IN_PROFILE =
  /^[^\p{L}\n]*(?:time\s?-?zone|tz|zeitzone|fuseau(?: horaire)?|zona horaria|fuso(?: orario| horário)?|时区|時區)[^\p{L}\n:：]*[:：][^\p{L}\p{N}+\n]*([\p{L}\p{N}+][^\n]*)$/imu;
const MAX_NAME_LENGTH = 60;

/**
 * Returns the zone from the settings, or else from HEARTBEAT.md or USER.md, or else the zone of
 * this machine.
 */
export function resolveOwnerZone(profile: string, settings: SettingsZone, tasks = ''): OwnerZone {
  const { timeZone, isMachinesTimeZone = false } = settings;
  // Indented lines are skipped, because they may belong to a task.
  const inTasks = IN_PROFILE.exec(tasks.replace(/^[ \t].*$/gm, ''));
  const file = inTasks === null ? PROFILE_FILE : TASKS_FILE;
  const written = (inTasks ?? IN_PROFILE.exec(profile))?.[1]
    ?.replace(/[*`<>]|_$/g, '')
    .trim()
    .slice(0, MAX_NAME_LENGTH);
  if (written === undefined || /^\(?(?:optional|unknown|tbd|none|n\/a)\b/i.test(written)) {
    return { timeZone };
  }
  const zone = findTimeZone(written);
  if (!isMachinesTimeZone) {
    if (zone === timeZone) return { timeZone };
    const why = `agent.timeZone in the settings, which overrides "${written}" in ${file}`;
    return { timeZone, why };
  }
  if (zone !== null) return { timeZone: zone, why: file };
  const problem = `${file}: "${written}" is not a time zone. Use an IANA name such as Europe/Berlin, or set agent.timeZone in the settings; until then, hours are in ${timeZone}, the zone of this machine.`;
  return { timeZone, problem };
}

/** Common names that are not IANA zones. */
const NAMES: Readonly<Record<string, string>> = {
  eastern: 'America/New_York',
  central: 'America/Chicago',
  mountain: 'America/Denver',
  pacific: 'America/Los_Angeles',
};

/**
 * Parses `Europe/Berlin`, even within other text, `Berlin`, `New York`, `US Pacific Time` and
 * `UTC+2`; null for anything else.
 */
function findTimeZone(written: string): string | null {
  const iana = written.match(/\b\p{Lu}\p{L}+(?:\/[\p{L}_+-]+\d*){1,2}/gu)?.find(isKnownZone);
  if (iana !== undefined) return iana;
  const text =
    written
      .replace(/\([^)]*\)?/g, ' ')
      .split(',')[0]
      ?.trim() ?? '';
  const [, us] =
    /^(?:us[\s/-]+)?(eastern|central|mountain|pacific)(?:\s+(?:standard |daylight )?time)?$/i.exec(
      text,
    ) ?? [];
  if (us !== undefined) return NAMES[us.toLowerCase()] ?? null;
  const [, sign, hours = ''] =
    /^(?:UTC|GMT)\s*(?:([+-])\s*0?(\d{1,2})(?::?00)?)?$/i.exec(text) ?? [];
  // In `Etc/…` names, the signs are reversed.
  if (sign !== undefined) return toZoneOrNull(`Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`);
  if (/^(?:UTC|GMT)$/i.test(text)) return 'UTC';
  const city = text.replace(/\s+/g, '_').toLowerCase();
  const zones = Intl.supportedValuesOf('timeZone');
  const found = zones.filter((zone) => zone.toLowerCase().endsWith(`/${city}`));
  return found.length === 1 ? (found[0] ?? null) : null;
}

function toZoneOrNull(zone: string): string | null {
  return isKnownZone(zone) ? zone : null;
}

function isKnownZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false; // Intl reports an unknown zone only by throwing.
  }
}
