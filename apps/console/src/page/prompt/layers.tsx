import type {
  Audience,
  MessageSize,
  RequestSection,
  SentPart,
  SentRequest,
  UnsentLayer,
} from '@parley/core';
import { Fragment, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { formatAmount, formatPercent } from '../ui/format.ts';
import { OutsideText } from '../ui/widgets.tsx';

/**
 * A whole request: tool definitions, layers, history and message, followed by the layers that were
 * left out.
 */
export function PromptLayers({ request }: { readonly request: SentRequest }): VNode {
  const { tools, unsent } = request;
  const rows = listRequestRows(request);
  const all = request.tokens || 1;
  return (
    <>
      <RequestBar rows={rows} all={all} />
      <LayerRows rows={rows} all={all} />
      {unsent.length > 0 && <UnsentLayers unsent={unsent} />}
      <dl class="pairs">
        <dt>Available tools</dt>
        <dd>{tools.length === 0 ? 'none' : tools.join(', ')}</dd>
      </dl>
    </>
  );
}

/** How often a text changes, which determines the color of its bar. */
type ChangeFrequency = 'standing' | 'turning' | 'data';

interface RequestRow extends Pick<SentPart, 'source' | 'tokens'> {
  readonly name: string;
  readonly audience: Audience;
  readonly pace: ChangeFrequency;
  readonly cut: SentPart['cut'];
  readonly characters: number;
  /** The content shown when the row is opened. */
  readonly content: string | readonly MessageSize[];
  /** Shown above the row. */
  readonly note: string | null;
}

/** Rows in the order in which a provider receives them. */
function listRequestRows({ parts, messages, sections }: SentRequest): readonly RequestRow[] {
  const rowOf = (part: SentPart, index: number): RequestRow => ({
    ...part,
    name: part.layer,
    pace: getChangeFrequency(part),
    characters: part.text.length,
    content: part.placement === 'tools' ? part.text.replaceAll('\n', '\n\n') : part.text,
    note: findNoteBefore(parts, index),
  });
  const rows = parts.map(rowOf);
  const system = parts.filter(({ placement }) => placement !== 'user').length;
  const talk = (
    name: RequestSection['name'],
    content: RequestRow['content'],
    note: string,
  ): RequestRow[] =>
    sections
      .filter((section) => section.name === name)
      .map(({ count, characters, tokens }) => ({
        name,
        source: count === 1 ? '1 message' : `${count} messages`,
        audience: { kind: 'conversation', conversationId: '' },
        pace: 'data',
        cut: null,
        characters,
        tokens,
        content,
        note,
      }));
  return [
    ...rows.slice(0, system),
    ...talk('history', messages.slice(0, -1), 'Earlier messages of this conversation'),
    ...rows.slice(system),
    ...talk(
      'message',
      'The text is in the chat; only its size is recorded.',
      'The message being answered',
    ),
  ];
}

function getChangeFrequency({ placement, stable }: SentPart): ChangeFrequency {
  if (placement === 'user') return 'data';
  return stable ? 'standing' : 'turning';
}

function findNoteBefore(parts: readonly SentPart[], index: number): string | null {
  const [before, here] = [parts[index - 1], parts[index]];
  if (here?.placement === 'user' && before?.placement !== 'user') {
    return "In the user message, before the sender's text";
  }
  if (before?.stable && here && !here.stable) {
    return 'Cache boundary: nothing above changes from turn to turn';
  }
  return null;
}

const PACES = [
  { pace: 'standing', label: 'the same every turn' },
  { pace: 'turning', label: 'may change' },
  { pace: 'data', label: 'in the messages' },
] as const;

interface RowsProps {
  readonly rows: readonly RequestRow[];
  /** Tokens of the whole request. */
  readonly all: number;
}

/** The whole request as one bar, divided into constant text, changing text, and data. */
function RequestBar({ rows, all }: RowsProps): VNode {
  const shares = PACES.map(({ pace, label }) => {
    const own = rows.filter((row) => row.pace === pace);
    return { pace, label, share: own.reduce((sum, { tokens }) => sum + tokens, 0) / all };
  });
  return (
    <div>
      <div class="bar" aria-hidden="true">
        {rows.map(({ name, pace, tokens }, index) => (
          <i
            key={index}
            class={`is-${pace}`}
            title={`${name}: ${formatPercent(tokens / all)}`}
            style={{ flexGrow: tokens }}
          />
        ))}
      </div>
      <ul class="hint row legend">
        {shares
          .filter(({ share }) => share > 0)
          .map(({ pace, label, share }) => (
            <li key={pace}>
              <i class={`is-${pace}`} />
              {formatPercent(share)} {label}
            </li>
          ))}
      </ul>
    </div>
  );
}

/** Each row opens to show its text or the sizes of its messages. */
function LayerRows({ rows, all }: RowsProps): VNode {
  return (
    <div class="layers">
      <div class="hint layer-grid layer-heads" aria-hidden="true">
        {['Layer', 'For', 'Share', 'Tokens'].map((head) => (
          <span key={head}>{head}</span>
        ))}
      </div>
      {rows.map((row, index) => (
        <Fragment key={`${index} ${row.name}`}>
          {row.note && <p class="hint layer-note">{row.note}</p>}
          <LayerRow row={row} share={row.tokens / all} />
        </Fragment>
      ))}
    </div>
  );
}

function LayerRow({ row, share }: { readonly row: RequestRow; readonly share: number }): VNode {
  const { name, source, audience, pace, cut, characters, tokens, content } = row;
  const [isOpen, setOpen] = useState(false);
  const reader = getAudienceName(audience);
  return (
    <details
      class={`layer is-${pace}`}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary class="layer-grid">
        <span class="row">
          <b>{name}</b>
          <small class="hint">{source}</small>
          {cut && (
            <em class="cut">
              cut: {formatAmount(cut.shown)} of {formatAmount(cut.total)}
            </em>
          )}
        </span>
        <span class={`badge for-${reader === 'owner' ? reader : 'others'}`}>
          {reader === 'owner' ? 'owner only' : reader}
        </span>
        <span class="bar" title={formatPercent(share)}>
          <i style={{ width: `${Math.max(share * 100, 0.5)}%` }} />
        </span>
        <span class="layer-size">{formatAmount(tokens)}</span>
      </summary>
      {/* A long text is laid out only when its row is open. */}
      {isOpen && (
        <>
          <RowContent content={content} />
          <p class="hint layer-foot">{formatSize({ characters, tokens })}</p>
        </>
      )}
    </details>
  );
}

function RowContent({ content }: Pick<RequestRow, 'content'>): VNode {
  if (typeof content === 'string') {
    return (
      <OutsideText as="pre" look="layer-text">
        {content}
      </OutsideText>
    );
  }
  return (
    <ol class="hint">
      {content.map((message, index) => (
        <li key={index}>
          {message.role}: {formatSize(message)}
        </li>
      ))}
    </ol>
  );
}

function formatSize({ characters, tokens }: Omit<MessageSize, 'role'>): string {
  return `${formatAmount(characters)} characters, about ${formatAmount(tokens)} tokens`;
}

/** Describes for people who may see a text; an unknown audience counts as private. */
export function getAudienceName(
  audience: Audience | undefined,
): 'owner' | 'this chat' | 'everyone' {
  switch (audience?.kind) {
    case 'everyone':
      return 'everyone';
    case 'conversation':
      return 'this chat';
    default:
      return 'owner';
  }
}

function UnsentLayers({ unsent }: { readonly unsent: readonly UnsentLayer[] }): VNode {
  return (
    <section class="unsent">
      <h3>Not in the prompt</h3>
      <dl class="pairs">
        {unsent.map((layer, index) => (
          <div key={index}>
            <dt>{layer.layer}</dt>
            <dd class={`tone is-${layer.outcome}`}>{describeUnsentLayer(layer)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Why a layer is not in the prompt. */
export function describeUnsentLayer(unsent: UnsentLayer): string {
  switch (unsent.outcome) {
    case 'absent':
      return unsent.reason;
    case 'withheld':
      return `withheld: ${unsent.source} is for ${getAudienceName(unsent.audience)}, not for the sender`;
    case 'failed':
      return `failed: ${unsent.reason}`;
  }
}
