import { findOwnerChat, type OwnerChatDeps } from '@parley/channels';
import { toLiteralLine } from '@parley/core';
import type { SoulVersion, Store } from '@parley/store';
import { type NoticeDeps, postNotice } from '../post-message.ts';
import type { LocalTime } from '../time.ts';
import type { SoulCommandResult, SoulService } from './soul-service.ts';
import {
  BY_HAND,
  describeAuthor,
  describeNextStep,
  describeSoulStatus,
  formatCodeBlock,
  formatScore,
  formatVersionLine,
  formatVersionName,
  listFindingLines,
  SEED_ONLY,
  type SoulSettings,
  shortenDiff,
} from './soul-text.ts';

const USAGE =
  '`/soul show N`, `/soul diff N`, `/soul apply N`, `/soul veto N` or `/soul rollback N`, with the number of a version.';

const LISTED = 10;

/** Handles an owner's `/soul` command (W06); the reply is Markdown. */
export function createSoulCommand(service: SoulService, localTime: LocalTime) {
  return async (
    { person, messageId }: { readonly person: string; readonly messageId: string },
    argument: string,
  ): Promise<string> => {
    const [verb = '', given = ''] = argument.trim().toLowerCase().split(/\s+/);
    await service.syncFromDisk();
    if (verb === '' || verb === 'list') return renderVersionList(await service.list(), localTime);
    const number = parseVersionNumber(given);
    if (number === null) return `I don’t understand that. Use ${USAGE}`;
    switch (verb) {
      case 'show':
      case 'diff': {
        const version = await service.get(number);
        if (version === null) return `There is no version ${number}. ${USAGE}`;
        const next =
          version.state === 'passed' && describeNextStep(version, service.settings, localTime);
        return formatVersion(version, verb, localTime) + (next ? `\n\n${next}` : '');
      }
      case 'apply':
        return renderSoulCommandResult(
          await service.apply(number, person),
          (version) =>
            `${formatVersionName(version)} is in use from the next message on.\n\n${renderDiff(version)}`,
        );
      case 'veto':
        return renderSoulCommandResult(
          await service.veto(number, person),
          (version) => `Vetoed: ${formatVersionName(version)} will not take effect.`,
        );
      case 'rollback':
        return renderSoulCommandResult(
          await service.rollback(number, person, `command:${messageId}`),
          (version) =>
            `I am back to version ${number}, which is now ${formatVersionName(version)}.\n\n${renderDiff(version)}`,
        );
      default:
        return `I don’t understand that. Use ${USAGE}`;
    }
  };
}

/** Parses a version number: `3`, `v3`, `#3` and `v0-seed` are valid. */
function parseVersionNumber(text: string): number | null {
  const digits = /^[v#]?(\d{1,9})(?:-seed)?$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

function renderVersionList(newestFirst: readonly SoulVersion[], localTime: LocalTime): string {
  const inUse = newestFirst.find(({ state }) => state === 'applied');
  if (inUse === undefined) return 'There is no SOUL.md yet. The first one becomes `v0-seed`.';
  const isOpen = ({ state }: SoulVersion) => state === 'proposed' || state === 'passed';
  const line = (version: SoulVersion) => formatVersionLine(version, localTime);
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

function formatVersion(version: SoulVersion, verb: 'show' | 'diff', localTime: LocalTime): string {
  const { basedOn, text, diff, findings } = version;
  const isDiff = verb === 'diff' && basedOn !== null;
  const against = isDiff ? `, against version ${basedOn}` : '';
  return [
    `**${formatVersionName(version)}**${against} – ${describeSoulStatus(version, localTime)}; ${formatScore(version)}; ${toLiteralLine(describeAuthor(version))}.\nReason: ${toLiteralLine(version.reason)}`,
    ...(findings.length === 0 ? [] : [listFindingLines(version).join('\n')]),
    isDiff
      ? formatCodeBlock(diff === '' ? ' nothing changes' : diff, 'diff')
      : formatCodeBlock(text),
  ].join('\n\n');
}

function renderDiff({ diff }: SoulVersion): string {
  return formatCodeBlock(shortenDiff(diff), 'diff');
}

function renderSoulCommandResult(
  answer: SoulCommandResult,
  textOfVersion: (version: SoulVersion) => string,
): string {
  return answer.kind === 'refused' ? answer.reason : textOfVersion(answer.version);
}

export interface SoulNoticeServices extends OwnerChatDeps, NoticeDeps {
  readonly agent: string;
  readonly store: Pick<Store, 'inbox' | 'links' | 'outbox' | 'souls' | 'groupContext'>;
  readonly settings: SoulSettings;
  readonly localTime: LocalTime;
}

/**
 * Notifies the owner of changes to SOUL.md, in the direct chat in which they wrote most recently.
 * Each state of a version is reported once, even after a crash. If no owner has written yet, the
 * notice is sent later.
 */
export async function notifyOfSoul(deps: SoulNoticeServices): Promise<void> {
  const { agent, store } = deps;
  const unnotified = await store.souls.unnotified(agent);
  if (unnotified.length === 0) return;
  const chat = await findOwnerChat(deps);
  for (const version of unnotified) {
    const notice = formatSoulNotice(version, deps);
    if (notice !== null) {
      if (chat === null) return;
      const key = `soul:${agent}:${version.number}:${version.state}`;
      const { conversationId, last } = chat;
      await postNotice(deps, { key, route: last.route, conversationId, markdown: notice });
    }
    await store.souls.notified(agent, version.number, version.state);
  }
}

/**
 * Explains to the owner why an edit was refused. The setting may have changed since the refusal.
 */
const ONLY_ME: Readonly<Record<SoulSettings['humanEdits'], string>> = {
  'seed-only': 'Only I may propose changes to it (`soul.humanEdits` is "seed-only")',
  'until-first-proposal':
    'Since one of my proposals was applied, only I may propose changes to it (with `soul.humanEdits: propose` in the settings, you can edit it again)',
  propose: 'At that time only I could propose changes to it',
};

/** Formats the notice about a version, in Markdown; null if no notice is needed. */
export function formatSoulNotice(
  version: SoulVersion,
  { settings, localTime }: Pick<SoulNoticeServices, 'settings' | 'localTime'>,
): string | null {
  const { number, state, by, author, findings } = version;
  const isEdit = author === 'person' && by === BY_HAND;
  const edited = `SOUL.md was edited by hand. I kept the edit as proposal ${number}; nothing has changed yet.`;
  const diff = renderDiff(version);
  switch (state) {
    case 'passed': {
      const what = isEdit
        ? `${edited} It passed the evaluation with ${formatScore(version)}.`
        : `Proposal ${number} for SOUL.md passed the evaluation with ${formatScore(version)}.\n\nReason: ${toLiteralLine(version.reason)}`;
      return [what, diff, describeNextStep(version, settings, localTime)].join('\n\n');
    }
    case 'refused':
      if (isEdit && findings.some(({ rule }) => rule === SEED_ONLY)) {
        return `SOUL.md was edited by hand. ${ONLY_ME[settings.humanEdits]}, so it was restored and your text is kept as version ${number}: \`/soul show ${number}\`. Send it to me here and I can propose it.`;
      }
      // The agent has already received the result of the rules from its tool call; only the
      // scenarios take longer.
      if (!isEdit && !findings.some(({ rule }) => rule === 'scenario')) return null;
      return [
        isEdit
          ? `${edited} It did not pass the evaluation (${formatScore(version)}):`
          : `Proposal ${number} for SOUL.md did not pass the evaluation (${formatScore(version)}), so nothing changes:`,
        listFindingLines(version).join('\n'),
        `\`/soul show ${number}\` shows ${isEdit ? 'what you wrote' : 'the whole text'}.`,
      ].join('\n\n');
    case 'applied':
      return [
        `SOUL.md is version ${number} from now on. Reason: ${toLiteralLine(version.reason)}`,
        diff,
        `To go back: \`/soul rollback ${version.basedOn ?? 0}\`.`,
      ].join('\n\n');
    default:
      return null;
  }
}
