import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { act as ask, useAnswer } from '../prompt/use-answer.ts';
import { hrefOf, type Route } from '../route.ts';
import { readVersions, type SoulAction } from '../soul/read-soul.ts';
import { VersionList } from '../soul/version-list.ts';
import { VersionSheet } from '../soul/version-sheet.ts';
import { Icon } from '../ui/icons.ts';

interface SoulViewProps {
  readonly route: Extract<Route, { view: 'soul' }>;
}

/** SOUL.md: its versions, and proposals that the owner decides on (W06). */
export function SoulView({ route }: SoulViewProps): VNode {
  const [round, setRound] = useState(0);
  const [told, setTold] = useState<{ readonly words: string; readonly isTrouble: boolean }>();
  const [isBusy, setBusy] = useState(false);
  const answer = useAnswer('/api/soul', readVersions, round);
  const versions = answer.kind === 'here' ? answer.value : [];
  const open = versions.find(({ can }) => can.includes('apply'));
  const shown = route.version ?? open?.number ?? versions[0]?.number ?? null;
  const version = versions.find(({ number }) => number === shown);
  const look = (): void => setRound((last) => last + 1);
  const act = async (number: number, action: SoulAction): Promise<void> => {
    setBusy(true);
    const trouble = await ask(`/api/soul/${number}/${action}`);
    setTold({ words: trouble ?? DONE[action], isTrouble: trouble !== null });
    setBusy(false);
    look();
  };
  return h(
    'main',
    { class: `prompt-view soul-view ${route.version === null ? 'shows-list' : 'shows-turn'}` },
    h(
      'nav',
      { class: 'turns', 'aria-label': 'Versions' },
      h(
        'div',
        { class: 'turns-head' },
        h('h2', null, 'SOUL.md'),
        h(
          'button',
          { type: 'button', class: 'quiet', onClick: look, title: 'Look for newer versions' },
          h(Icon, { name: 'again' }),
          'Refresh',
        ),
      ),
      answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
      answer.kind === 'here' && versions.length === 0 && h(Nothing, null),
      h(VersionList, { versions, chosen: shown }),
    ),
    h(
      'article',
      { class: 'turn', tabIndex: -1 },
      h(
        'a',
        { class: 'back', href: hrefOf({ view: 'soul', version: null }) },
        h(Icon, { name: 'back' }),
        'All versions',
      ),
      h(
        'p',
        { class: told?.isTrouble ? 'trouble' : 'soul-told', role: 'status', hidden: !told },
        told?.words,
      ),
      version !== undefined &&
        h(VersionSheet, {
          key: version.number,
          version,
          isBusy,
          onAct: (action) => void act(version.number, action),
        }),
    ),
  );
}

const DONE: Readonly<Record<SoulAction, string>> = {
  apply: 'Done. It is in use from the next message on.',
  veto: 'Done. It will not come into use.',
  rollback: 'Done. That text is in use again, as a new version.',
};

function Nothing(): VNode {
  return h(
    'p',
    { class: 'nothing' },
    'There is no SOUL.md yet. Whoever writes one into the workspace writes the first version.',
  );
}
