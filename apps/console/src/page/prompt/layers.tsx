import type { Audience, SentPart, SentPrompt, UnsentLayer } from '@parley/core';
import { Fragment, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, percent } from '../ui/format.ts';
import { Said } from '../ui/widgets.tsx';

/** The layers of a prompt, and those that are not in it. */
export function PromptLayers({ parts, unsent }: Pick<SentPrompt, 'parts' | 'unsent'>): VNode {
  return (
    <>
      <WholeBar parts={parts} />
      <LayerRows parts={parts} />
      {unsent.length > 0 && <Unsent unsent={unsent} />}
    </>
  );
}

interface PartsProps {
  readonly parts: readonly SentPart[];
}

/** How often a layer changes: the colour of its bar. */
function paceOf({ placement, stable }: SentPart): 'standing' | 'turning' | 'data' {
  if (placement === 'user') return 'data';
  return stable ? 'standing' : 'turning';
}

const PACES = [
  { pace: 'standing', label: 'the same every turn' },
  { pace: 'turning', label: 'may change' },
  { pace: 'data', label: 'in the user message' },
] as const;

/** The whole prompt as one bar: what never changes, what changes, what is data. */
function WholeBar({ parts }: PartsProps): VNode {
  const all = tokensOf(parts) || 1;
  const shares = PACES.map(({ pace, label }) => {
    const own = parts.filter((part) => paceOf(part) === pace);
    return { pace, label, share: tokensOf(own) / all };
  });
  return (
    <div class="whole">
      <div class="bar" aria-hidden="true">
        {parts.map((part, index) => (
          <i
            key={index}
            class={`is-${paceOf(part)}`}
            title={`${part.layer}: ${percent(part.tokens / all)}`}
            style={{ flexGrow: part.tokens }}
          />
        ))}
      </div>
      <ul class="hint legend">
        {shares
          .filter(({ share }) => share > 0)
          .map(({ pace, label, share }) => (
            <li key={pace}>
              <i class={`is-${pace}`} />
              {percent(share)} {label}
            </li>
          ))}
      </ul>
    </div>
  );
}

/** All tokens of a prompt, or of some of its layers. */
export function tokensOf(parts: readonly SentPart[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The layers in the order they were sent; each unfolds to its text. */
function LayerRows({ parts }: PartsProps): VNode {
  const all = tokensOf(parts) || 1;
  return (
    <div class="layers">
      <div class="hint layer-grid layer-heads" aria-hidden="true">
        {['Layer', 'For', 'Share', 'Tokens'].map((head) => (
          <span key={head}>{head}</span>
        ))}
      </div>
      {parts.map((part, index) => {
        const note = noteBefore(parts, index);
        return (
          <Fragment key={`${index} ${part.layer}`}>
            {note && <p class="hint layer-note">{note}</p>}
            <LayerRow part={part} share={part.tokens / all} />
          </Fragment>
        );
      })}
    </div>
  );
}

function noteBefore(parts: readonly SentPart[], index: number): string | null {
  const [before, here] = [parts[index - 1], parts[index]];
  if (here?.placement === 'user' && before?.placement !== 'user') {
    return 'In the user message, before the text of the sender';
  }
  if (before?.stable && here && !here.stable) {
    return 'Cache boundary: nothing above changes from turn to turn';
  }
  return null;
}

function LayerRow({ part, share }: { readonly part: SentPart; readonly share: number }): VNode {
  const { layer, source, audience, cut, tokens, text } = part;
  const [isOpen, setOpen] = useState(false);
  const name = audienceName(audience);
  return (
    <details
      class={`layer is-${paceOf(part)}`}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary class="layer-grid">
        <span class="layer-name">
          <b>{layer}</b>
          <small class="hint">{source}</small>
          {cut && (
            <em class="cut">
              cut: {amount(cut.shown)} of {amount(cut.total)}
            </em>
          )}
        </span>
        <span class={`badge for-${name.replace(' ', '-')}`}>
          {name === 'owner' ? 'owner only' : name}
        </span>
        <span class="bar" title={percent(share)}>
          <i style={{ width: `${Math.max(share * 100, 0.5)}%` }} />
        </span>
        <span class="layer-size">{amount(tokens)}</span>
      </summary>
      {/* A long text is laid out only once it is opened. */}
      {isOpen && (
        <>
          <Said as="pre" look="layer-text">
            {text}
          </Said>
          <p class="hint layer-foot">
            {amount(text.length)} characters, about {amount(tokens)} tokens
          </p>
        </>
      )}
    </details>
  );
}

/** Who may see a text; an unknown audience counts as private. */
export function audienceName(audience: Audience | undefined): 'owner' | 'this chat' | 'everyone' {
  switch (audience?.kind) {
    case 'everyone':
      return 'everyone';
    case 'conversation':
      return 'this chat';
    default:
      return 'owner';
  }
}

function Unsent({ unsent }: { readonly unsent: readonly UnsentLayer[] }): VNode {
  return (
    <section class="facts unsent">
      <h3>Not in the prompt</h3>
      <dl>
        {unsent.map((layer, index) => (
          <div key={index} class={`is-${layer.outcome}`}>
            <dt>{layer.layer}</dt>
            <dd>{whyUnsent(layer)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Why a layer is not in the prompt. */
export function whyUnsent(unsent: UnsentLayer): string {
  switch (unsent.outcome) {
    case 'absent':
      return unsent.reason;
    case 'withheld':
      return `withheld: ${unsent.source} is for ${audienceName(unsent.audience)}, not for the sender`;
    case 'failed':
      return `failed: ${unsent.reason}`;
  }
}
