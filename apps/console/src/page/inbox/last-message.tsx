import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { amount } from '../ui/format.ts';
import { List, Show } from '../ui/widgets.tsx';
import { WhySheet } from '../why.tsx';

/** How many of the newest messages are searched for one that has a trace. */
const NEWEST = 10;

interface LastProps {
  readonly id: string;
  /** Whether to show its prompt instead of its trace. */
  readonly isPrompt: boolean;
}

/** The trace or the prompt of the last answered message. */
export function LastMessage({ id, isPrompt }: LastProps): VNode {
  const newest = useOperation('conversations/messages', { id, limit: NEWEST }, 'live');
  const messages = newest.value?.messages ?? [];
  const message = messages.findLast(({ why }) => why !== null)?.why ?? null;
  // Parts of answers name their turn.
  const turn =
    messages.findLast(({ why, direction }) => direction === 'out' && why !== null)?.why ?? null;
  const isKnown = (isPrompt ? turn : message) !== null;
  return (
    <div class="stack panel-body">
      <Show data={newest}>
        {() => (
          <>
            {!isKnown && <p class="nothing">No answers yet.</p>}
            {isPrompt && turn !== null && <Prompt turn={turn} />}
            {!isPrompt && message !== null && <Story message={message} />}
          </>
        )}
      </Show>
      <p>
        <a href={hrefOf(isPrompt ? 'prompt' : 'why')}>
          {isPrompt ? 'All prompts' : 'All messages'}
        </a>
      </p>
    </div>
  );
}

function Story({ message }: { readonly message: string }): VNode {
  const why = useOperation('why/message', { message });
  return <Show data={why}>{(answer) => <WhySheet why={answer} of="The last message" />}</Show>;
}

function Prompt({ turn }: { readonly turn: string }): VNode {
  const prompt = useOperation('prompts/show', { turn });
  return <Show data={prompt}>{(found) => <PromptSummary turn={turn} prompt={found} />}</Show>;
}

interface SummaryProps {
  readonly turn: string;
  readonly prompt: OutputOf<'prompts/show'>;
}

/** The sections of a request that consist of messages; the others summarize layers. */
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
        <b>{amount(tokens)} tokens</b> in {amount(characters)} characters · layout {layout} ·{' '}
        {model}
      </p>
      <List look="panel-layers" of={rows.map((row, nth) => ({ ...row, nth }))}>
        {(row) => (
          <span key={row.nth}>
            {row.name} <span class="hint">{amount(row.tokens)}</span>
          </span>
        )}
      </List>
      <p>
        <a href={hrefOf('prompt', turn)}>Open the whole prompt</a>
      </p>
    </>
  );
}
