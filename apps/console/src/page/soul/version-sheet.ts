import { h, type VNode } from 'preact';
import type { SoulAction, SoulVersion } from './read-soul.ts';

interface VersionSheetProps {
  readonly version: SoulVersion;
  /** What is being done now; its buttons wait. */
  readonly isBusy: boolean;
  readonly onAct: (action: SoulAction) => void;
}

const WORDS: Readonly<Record<SoulAction, string>> = {
  apply: 'Use it now',
  veto: 'Veto it',
  rollback: 'Go back to this',
};

/** One version: where it stands, what was found, what it changes, all of it. Every text is shown as text. */
export function VersionSheet({ version, isBusy, onAct }: VersionSheetProps): VNode {
  const { name, standing, score, origin, reason, can, findings, diff, basedOn, text } = version;
  return h(
    'div',
    { class: 'soul-sheet' },
    h(
      'header',
      { class: 'turn-title' },
      h('h2', null, name),
      h('p', null, h('b', null, sentence(standing)), ` ${sentence(origin)}`),
      h('p', null, `Evaluation: ${score}. Reason: ${reason}`),
    ),
    can.length > 0 &&
      h(
        'p',
        { class: 'soul-actions' },
        can.map((action) =>
          h(
            'button',
            {
              key: action,
              type: 'button',
              class: `soul-button does-${action}`,
              disabled: isBusy,
              onClick: () => onAct(action),
            },
            WORDS[action],
          ),
        ),
      ),
    findings.length > 0 &&
      h(
        'section',
        { class: 'soul-findings', 'aria-label': 'Findings' },
        h('h3', null, 'What the evaluation found'),
        h(
          'ul',
          null,
          findings.map((words, index) => h('li', { key: index }, words)),
        ),
      ),
    basedOn !== null &&
      h(
        'section',
        { 'aria-label': 'Changes' },
        h('h3', null, `Against version ${basedOn}`),
        h('pre', { class: 'layer-text soul-diff', tabIndex: 0, dir: 'auto' }, diffLines(diff)),
      ),
    h(
      'details',
      { class: 'soul-whole', open: basedOn === null },
      h('summary', null, 'The whole text'),
      h('pre', { class: 'layer-text', tabIndex: 0, dir: 'auto' }, text),
    ),
  );
}

function diffLines(diff: string): readonly VNode[] {
  if (diff === '') return [h('span', null, 'Nothing changes.')];
  return diff.split('\n').map((line, index) => {
    const kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
    return h(kind, { key: index }, `${line}\n`);
  });
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
