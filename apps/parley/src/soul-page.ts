import { nameOf, originOf, type SoulKeeper, scoreWords, standingOf } from '@parley/agent';
import type { SoulAction, SoulPage } from '@parley/gateway';
import type { SoulVersion } from '@parley/store';
import { CliError } from './data-folder.ts';
import { newId } from './new-id.ts';

type LocalTime = Parameters<typeof standingOf>[1];

/** Who decides on the page: whoever has its token. */
const BY = 'the console';

/** SOUL.md on the page. */
export function soulPage(keeper: SoulKeeper, localTime: LocalTime): SoulPage {
  const act = (number: number, action: SoulAction) => {
    switch (action) {
      case 'apply':
        return keeper.apply(number, BY);
      case 'veto':
        return keeper.veto(number, BY);
      case 'rollback':
        return keeper.rollback(number, BY, newId('order'));
    }
  };
  return {
    async list() {
      await keeper.look();
      const versions = await keeper.list();
      return { versions: versions.map((version) => shown(version, keeper, localTime)) };
    },
    async act(number, action) {
      const answer = await act(number, action);
      if (answer.kind === 'refused') throw new CliError('soul', answer.words.replaceAll('`', ''));
      return shown(answer.version, keeper, localTime);
    },
  };
}

function shown(version: SoulVersion, { settings }: SoulKeeper, localTime: LocalTime): object {
  const { number, reason, state, findings, diff, text, createdAt, basedOn } = version;
  return {
    number,
    name: nameOf(version),
    origin: originOf(version),
    reason,
    state,
    standing: standingOf(version, localTime),
    score: scoreWords(version),
    findings: findings.map(({ words }) => words),
    diff,
    text,
    createdAt,
    basedOn,
    can: actionsOn(version, settings.apply === 'never'),
  };
}

/** What the owner can do about a version now. */
function actionsOn({ state, appliedAt }: SoulVersion, isFrozen: boolean): readonly SoulAction[] {
  switch (state) {
    case 'proposed':
      return ['veto'];
    case 'passed':
      return isFrozen ? ['veto'] : ['apply', 'veto'];
    case 'replaced':
      return appliedAt === null ? [] : ['rollback'];
    default:
      return [];
  }
}
