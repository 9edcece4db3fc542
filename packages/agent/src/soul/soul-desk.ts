import { literalLine } from '@parley/contracts';
import type { SoulVersion } from '@parley/store';
import type { LocalTime } from '../local-time.ts';
import type { SoulKeeper } from './soul-keeper.ts';
import type { SoulAnswer } from './soul-proposals.ts';
import {
  fenced,
  findingLines,
  nameOf,
  nextStep,
  originOf,
  scoreWords,
  shortDiff,
  standingOf,
  versionLine,
} from './soul-words.ts';

/** Who uses `/soul`; only owners, alone with the agent, get as far as this. */
export interface SoulAsker {
  /** Parley's id (`telegram:42`). */
  readonly person: string;
  /** Told twice of the same message, the desk does nothing more. */
  readonly messageId: string;
}

/** Answers `/soul` (W06), in Markdown. */
export interface SoulDesk {
  answer(asker: SoulAsker, argument: string): Promise<string>;
}

const USAGE =
  '`/soul show N`, `/soul diff N`, `/soul apply N`, `/soul veto N` or `/soul rollback N`, with the number of a version.';

/** Older versions that `/soul` lists. */
const LISTED = 10;

/** Makes the desk of an agent’s soul. */
export function soulDesk(keeper: SoulKeeper, localTime: LocalTime): SoulDesk {
  return {
    async answer({ person, messageId }, argument) {
      const [verb = '', given = ''] = argument.trim().toLowerCase().split(/\s+/);
      await keeper.look();
      if (verb === '' || verb === 'list') return listText(await keeper.list(), localTime);
      const number = numberIn(given);
      if (number === null) return `I do not understand that. There is ${USAGE}`;
      switch (verb) {
        case 'show':
        case 'diff': {
          const version = await keeper.get(number);
          if (version === null) return `There is no version ${number}. ${USAGE}`;
          return versionText(version, verb, { keeper, localTime });
        }
        case 'apply':
          return said(await keeper.apply(number, person), (version) =>
            [`${nameOf(version)} is in use from the next message on.`, changeOf(version)].join(
              '\n\n',
            ),
          );
        case 'veto':
          return said(
            await keeper.veto(number, person),
            (version) => `Vetoed: ${nameOf(version)} will not come into use.`,
          );
        case 'rollback':
          return said(await keeper.rollback(number, person, `command:${messageId}`), (version) =>
            [
              `I am as I was in version ${number} again; that is ${nameOf(version)} now.`,
              changeOf(version),
            ].join('\n\n'),
          );
        default:
          return `I do not understand that. There is ${USAGE}`;
      }
    },
  };
}

/** `3`, `v3`, `#3` and `v0-seed` name a version. */
function numberIn(text: string): number | null {
  const digits = /^[v#]?(\d{1,9})(?:-seed)?$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

function listText(newestFirst: readonly SoulVersion[], localTime: LocalTime): string {
  const inUse = newestFirst.find(({ state }) => state === 'applied');
  if (inUse === undefined) return 'There is no SOUL.md yet. Whoever writes one writes `v0-seed`.';
  const isOpen = ({ state }: SoulVersion) => state === 'proposed' || state === 'passed';
  const line = (version: SoulVersion) => versionLine(version, localTime);
  const open = newestFirst.filter(isOpen);
  const others = newestFirst.filter((one) => one !== inUse && !isOpen(one)).slice(0, LISTED);
  return [
    'SOUL.md says who I am. In use:\n',
    line(inUse),
    open.length === 0 ? '\nNo proposal is open.' : '\nOpen proposals:\n',
    ...open.map(line),
    ...(others.length === 0 ? [] : ['\nBefore:\n', ...others.map(line)]),
    `\n${USAGE}`,
  ].join('\n');
}

function versionText(
  version: SoulVersion,
  verb: 'show' | 'diff',
  { keeper, localTime }: { readonly keeper: SoulKeeper; readonly localTime: LocalTime },
): string {
  const { basedOn, text, diff, state } = version;
  const against = basedOn === null ? '' : `, against version ${basedOn}`;
  const body =
    verb === 'show' || basedOn === null
      ? fenced(text)
      : fenced(diff === '' ? ' nothing changes' : diff, 'diff');
  return [
    `**${nameOf(version)}**${verb === 'diff' ? against : ''} – ${standingOf(version, localTime)}; ${scoreWords(version)}; ${literalLine(originOf(version))}.\nReason: ${literalLine(version.reason)}`,
    ...(version.findings.length === 0 ? [] : [findingLines(version).join('\n')]),
    body,
    ...(state === 'passed' ? [nextStep(version, keeper.settings, localTime)] : []),
  ].join('\n\n');
}

function changeOf({ diff }: SoulVersion): string {
  return fenced(shortDiff(diff), 'diff');
}

function said(answer: SoulAnswer, words: (version: SoulVersion) => string): string {
  return answer.kind === 'refused' ? answer.words : words(answer.version);
}
