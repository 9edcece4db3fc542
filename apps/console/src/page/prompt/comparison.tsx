import type { PartComparison, PromptComparison, TextPiece } from '@parley/prompt';
import { Fragment, type VNode } from 'preact';
import { formatAmount, formatPercent } from '../ui/format.ts';
import { OutsideText } from '../ui/widgets.tsx';

/** Compares two prompts: the prefix that they share, and the differences. */
export function ComparisonView({ comparison }: { readonly comparison: PromptComparison }): VNode {
  const { before, after, prefix, share, parts } = comparison;
  const end = parts.findIndex((part) => !isFullyShared(part));
  return (
    <div class="comparison">
      <div>
        <p class="shared-words">
          <b>{formatPercent(share)}</b> of this prompt is a prefix that both share:{' '}
          {formatAmount(prefix.characters)} characters, about {formatAmount(prefix.tokens)} tokens.
        </p>
        <div class="bar" aria-hidden="true">
          <i style={{ width: `${share * 100}%` }} />
        </div>
        <p class="hint">
          Before {formatAmount(before.tokens)} tokens, now {formatAmount(after.tokens)}.
        </p>
      </div>
      {parts.map((part, index) => (
        <Fragment key={`${index} ${part.layer}`}>
          {index === end && <p class={END}>The shared prefix ends here</p>}
          <ChangeRow part={part} />
        </Fragment>
      ))}
      {end === -1 && <p class={END}>The prompts are identical</p>}
    </div>
  );
}

const END = 'hint layer-note ruled tone is-running';

const LABELS: Readonly<Record<PartComparison['change'], string>> = {
  same: 'the same',
  changed: 'changed',
  added: 'new',
  removed: 'removed',
};

const ELEMENTS = { same: 'span', added: 'ins', removed: 'del' } as const;

function ChangeRow({ part }: { readonly part: PartComparison }): VNode {
  const { layer, change } = part;
  return (
    <details class={`layer change is-${change}`} open={change !== 'same'}>
      <summary>
        <b>{layer}</b>
        <span class={`badge change-${change}`}>{LABELS[change]}</span>
      </summary>
      <OutsideText as="pre" look="layer-text">
        {splitTextSegments(part).map(({ kind, text, shared }, index) => {
          const Element = ELEMENTS[kind];
          return (
            <Element key={index} class={shared ? 'is-shared' : undefined}>
              {text}
            </Element>
          );
        })}
      </OutsideText>
    </details>
  );
}

/** Whether a whole layer is part of the shared prefix. */
function isFullyShared({ change, pieces, shared }: PartComparison): boolean {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  return change === 'same' && shared === length;
}

/** A section of a layer's text with its change, and whether it is in the shared prefix. */
interface TextSegment extends TextPiece {
  readonly shared: boolean;
}

/**
 * The pieces of a layer, split where the shared prefix ends. The shared prefix ends within the
 * first differing line, so it includes the beginning of both the removed and the added line.
 */
export function splitTextSegments({ pieces, shared }: PartComparison): readonly TextSegment[] {
  let left = { removed: shared, added: shared };
  return pieces.flatMap(({ kind, text }) => {
    const within = Math.max(
      0,
      Math.min(text.length, kind === 'removed' ? left.removed : left.added),
    );
    if (kind !== 'added') left = { ...left, removed: left.removed - text.length };
    if (kind !== 'removed') left = { ...left, added: left.added - text.length };
    const cut = [
      { kind, text: text.slice(0, within), shared: true },
      { kind, text: text.slice(within), shared: false },
    ];
    return cut.filter((stretch) => stretch.text !== '');
  });
}
