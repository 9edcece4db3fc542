import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount } from '../ui/format.ts';
import { DataContent, List } from '../ui/widgets.tsx';
import { WhySheet } from '../why.tsx';

/** How many of the newest messages are searched for one with a trace. */
const NEWEST = 10;

interface LastProps {
  readonly id: string;
  /** Whether to show the prompt instead of the trace. */
  readonly isPrompt: boolean;
}

/** The trace or the prompt of the last answered message. */
export function LastMessageView({ id, isPrompt }: LastProps): VNode {
  const newest = useOperation('conversations/messages', { id, limit: NEWEST }, 'live');
  const messages = newest.value?.messages ?? [];
  const message = messages.findLast(({ why }) => why !== null)?.why ?? null;
  // The parts of an answer contain the id of their turn.
  const turn =
    messages.findLast(({ why, direction }) => direction === 'out' && why !== null)?.why ?? null;
  const isKnown = (isPrompt ? turn : message) !== null;
  return (
    <div class="stack panel-body">
      <DataContent data={newest}>
        {() => (
          <>
            {!isKnown && <p class="nothing">No answers yet.</p>}
            {isPrompt && turn !== null && <TurnPrompt turn={turn} />}
            {!isPrompt && message !== null && <MessageStory message={message} />}
          </>
        )}
      </DataContent>
      <p>
        <a href={toHref(isPrompt ? 'prompt' : 'why')}>
          {isPrompt ? 'All prompts' : 'All messages'}
        </a>
      </p>
    </div>
  );
}

function MessageStory({ message }: { readonly message: string }): VNode {
  const why = useOperation('why/message', { message });
  return (
    <DataContent data={why}>
      {(answer) => <WhySheet why={answer} of="The last message" />}
    </DataContent>
  );
}

function TurnPrompt({ turn }: { readonly turn: string }): VNode {
  const prompt = useOperation('prompts/show', { turn });
  return (
    <DataContent data={prompt}>
      {(found) => <PromptSummary turn={turn} prompt={found} />}
    </DataContent>
  );
}

interface SummaryProps {
  readonly turn: string;
  readonly prompt: OutputOf<'prompts/show'>;
}

/** The sections of a request that consist of messages; the other sections summarize layers. */
const MESSAGE_SECTIONS: ReadonlySet<string> = new Set(['history', 'message']);

/** Shows the size of a prompt and each of its layers. */
function PromptSummary({ turn, prompt }: SummaryProps): VNode {
  const { tokens, characters, layout, model, parts, sections } = prompt;
  const rows = [
    ...parts.map((part) => ({ name: part.layer, tokens: part.tokens })),
    ...sections
      .filter(({ name }) => MESSAGE_SECTIONS.has(name))
      .map(({ name, tokens: own }) => ({ name, tokens: own })),
  ];
  return (
    <>
      <p>
        <b>{formatAmount(tokens)} tokens</b> in {formatAmount(characters)} characters · layout{' '}
        {layout} · {model}
      </p>
      <List look="panel-layers" of={rows.map((row, nth) => ({ ...row, nth }))}>
        {(row) => (
          <span key={row.nth}>
            {row.name} <span class="hint">{formatAmount(row.tokens)}</span>
          </span>
        )}
      </List>
      <p>
        <a href={toHref('prompt', turn)}>Open the whole prompt</a>
      </p>
    </>
  );
}
