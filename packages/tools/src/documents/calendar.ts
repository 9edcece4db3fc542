import { type ContentLine, parseContentLines, unescapeValue } from './content-lines.ts';

/** A calendar component, such as an event, with its nested components. */
interface CalendarComponent {
  readonly kind: string;
  readonly lines: ContentLine[];
  readonly parts: CalendarComponent[];
}

const TITLES: Readonly<Record<string, string>> = {
  VEVENT: 'Event',
  VTODO: 'Task',
  VJOURNAL: 'Journal entry',
  VFREEBUSY: 'Busy times',
};

/** Whether a text is a calendar (`.ics`, `.vcs`). */
export function isCalendar(text: string): boolean {
  return /^\s*BEGIN:VCALENDAR\s*$/im.test(text.slice(0, 1_024));
}

/** Renders the entries of a calendar as readable text, with times and time zones as written. */
export function formatCalendar(text: string): string {
  const entries = parseComponents(parseContentLines(text)).flatMap((calendar) => [
    ...listHeaderLines(calendar),
    ...calendar.parts.flatMap((part) => (part.kind in TITLES ? [renderEntry(part)] : [])),
  ]);
  return entries.join('\n\n');
}

function parseComponents(lines: readonly ContentLine[]): readonly CalendarComponent[] {
  const roots: CalendarComponent[] = [];
  const open: CalendarComponent[] = [];
  for (const line of lines) {
    const { name, value } = line;
    if (name === 'BEGIN') {
      const component: CalendarComponent = {
        kind: value.trim().toUpperCase(),
        lines: [],
        parts: [],
      };
      (open.at(-1)?.parts ?? roots).push(component);
      open.push(component);
    } else if (name === 'END') open.pop();
    else open.at(-1)?.lines.push(line);
  }
  return roots;
}

function listHeaderLines({ lines }: CalendarComponent): readonly string[] {
  const named = (name: string) => lines.find((line) => line.name === name)?.value ?? '';
  const name = unescapeValue(named('X-WR-CALNAME') || named('NAME'));
  const method = unescapeValue(named('METHOD')).toLowerCase();
  const zone = unescapeValue(named('X-WR-TIMEZONE'));
  const facts = [
    ...(name === '' ? [] : [`Calendar: ${name}`]),
    ...(zone === '' ? [] : [`Time zone: ${zone}`]),
    ...(method === '' || method === 'publish' ? [] : [`Method: ${method}`]),
  ];
  return facts.length === 0 ? [] : [facts.join('\n')];
}

/** The properties of an entry that are shown, in this order; all others are meant for programs. */
const SHOWN: readonly (readonly [name: string, label: string])[] = [
  ['DTSTART', 'Start'],
  ['DTEND', 'End'],
  ['DUE', 'Due'],
  ['DURATION', 'Duration'],
  ['COMPLETED', 'Completed'],
  ['RRULE', 'Repeats'],
  ['RDATE', 'Also on'],
  ['EXDATE', 'Not on'],
  ['RECURRENCE-ID', 'Instead of'],
  ['FREEBUSY', 'Busy'],
  ['LOCATION', 'Where'],
  ['ORGANIZER', 'Organizer'],
  ['ATTENDEE', 'Attendee'],
  ['STATUS', 'Status'],
  ['PRIORITY', 'Priority'],
  ['PERCENT-COMPLETE', 'Percent done'],
  ['CATEGORIES', 'Categories'],
  ['URL', 'Link'],
  ['DESCRIPTION', 'Description'],
  ['COMMENT', 'Comment'],
];

const TIMES: ReadonlySet<string> = new Set(
  'DTSTART DTEND DUE COMPLETED RDATE EXDATE RECURRENCE-ID FREEBUSY'.split(' '),
);
const PEOPLE: ReadonlySet<string> = new Set(['ORGANIZER', 'ATTENDEE']);

function renderEntry({ kind, lines, parts }: CalendarComponent): string {
  const summary = lines.find(({ name }) => name === 'SUMMARY');
  const title = summary === undefined ? 'without a title' : unescapeValue(summary.value);
  const facts = SHOWN.flatMap(([name, label]) =>
    lines
      .filter((line) => line.name === name && line.value !== '')
      .map((line) => `${label}: ${formatCalendarValue(line)}`),
  );
  const alarms = parts
    .filter((part) => part.kind === 'VALARM')
    .flatMap((part) => part.lines.filter(({ name }) => name === 'TRIGGER'))
    .map((line) => `Reminder: ${TIME.test(line.value) ? formatTime(line) : line.value}`);
  return [`## ${TITLES[kind]}: ${title}`, ...facts, ...alarms].join('\n');
}

function formatCalendarValue(line: ContentLine): string {
  if (TIMES.has(line.name)) return formatTime(line);
  if (PEOPLE.has(line.name)) return formatPerson(line);
  return line.name === 'RRULE' ? line.value : unescapeValue(line.value);
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z?))?$/;

/**
 * For example `2026-11-27 10:00 (Europe/Berlin)`; a bare date is an all-day entry, and `floating`
 * has no time zone.
 */
function formatTime({ value, parameters }: ContentLine): string {
  return value
    .split(',')
    .map((one) =>
      one
        .split('/')
        .map((part) => formatMoment(part.trim(), parameters.TZID))
        .join(' to '),
    )
    .join(', ');
}

function formatMoment(value: string, zone: string | undefined): string {
  const [, year, month, day, hour, minute, second = '00', utc] = TIME.exec(value) ?? [];
  if (year === undefined) return value;
  const date = `${year}-${month}-${day}`;
  if (hour === undefined) return `${date} (all day)`;
  const time = `${hour}:${minute}${second === '00' ? '' : `:${second}`}`;
  if (utc === 'Z') return `${date} ${time} (UTC)`;
  return `${date} ${time} (${zone === undefined ? 'local time' : zone.replace(/^\/+/, '')})`;
}

/** For example, `Ann <ann@example.org>, accepted`. */
function formatPerson({ value, parameters }: ContentLine): string {
  const address = value.replace(/^mailto:/i, '').trim();
  const name = parameters.CN;
  const who = name === undefined || name === address ? address : `${name} <${address}>`;
  const part = parameters.PARTSTAT?.toLowerCase();
  return part === undefined || part === 'needs-action' ? who : `${who}, ${part}`;
}
