import type { SearchAnswer, SearchHit } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useRowAgents } from '../agents.tsx';
import { hrefOf } from '../route.ts';
import { counted } from '../ui/format.ts';
import { EntryLink } from '../ui/frames.tsx';
import { List, Show } from '../ui/widgets.tsx';
import { useGrowing } from './growing.ts';

/** Where one types what is looked for; an empty text shows the list again. */
export function SearchForm({ onAsk }: { readonly onAsk: (text: string) => void }): VNode {
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (event.currentTarget instanceof HTMLFormElement) {
      onAsk(String(new FormData(event.currentTarget).get('text') ?? '').trim());
    }
  };
  return (
    <form class="why-ask" role="search" onSubmit={onSubmit}>
      <input
        class="field"
        type="search"
        name="text"
        maxLength={200}
        aria-label="Search in all conversations"
        placeholder="Search what was said"
        onInput={({ currentTarget }) => currentTarget.value === '' && onAsk('')}
      />
      <button type="submit" class="quiet">
        Search
      </button>
    </form>
  );
}

/** While the index is built the search goes on by itself, after so many ms. */
const GOES_ON_MS = 500;

interface ResultsProps {
  readonly asked: string;
  /** The message that is shown beside it. */
  readonly chosen: string;
}

/** Messages and answers in which all words are found, newest first. */
export function SearchResults({ asked, chosen }: ResultsProps): VNode {
  const path = `/api/search?q=${encodeURIComponent(asked)}`;
  const again = (answer: SearchAnswer | undefined) => (answer?.missing ? GOES_ON_MS : undefined);
  const data = useGrowing(path, again, readHits, ({ message }: SearchHit) => message);
  const { isShown } = useRowAgents();
  const hits = (data.value ?? [])
    .filter(({ conversationId }) => isShown(conversationId))
    .sort((a, b) => b.at - a.at);
  return (
    <Show data={data}>
      {() => (
        <div class="entry-list">
          <p class="nothing" role="status">
            {hits.length === 0 ? 'Nothing is found.' : `${counted(hits.length, 'place')} found.`}
          </p>
          <List look="" of={hits}>
            {(hit) => <HitLink key={hit.message} hit={hit} isChosen={hit.message === chosen} />}
          </List>
          {data.older && (
            <button type="button" class="quiet" onClick={data.older}>
              Older places
            </button>
          )}
        </div>
      )}
    </Show>
  );
}

function readHits({ hits: items, next }: SearchAnswer) {
  return { items, next };
}

function HitLink({
  hit,
  isChosen,
}: {
  readonly hit: SearchHit;
  readonly isChosen: boolean;
}): VNode {
  const { conversationId, message, title, at, direction, from, excerpt } = hit;
  const agent = useRowAgents().titleOf(conversationId);
  return (
    <EntryLink
      href={hrefOf('conversations', conversationId, 'at', message, String(at))}
      title={title}
      at={at}
      facts={direction === 'out' ? `Answer${agent === null ? '' : ` of ${agent}`}` : (from ?? '')}
      isChosen={isChosen}
    >
      <span class="excerpt" dir="auto">
        {excerpt}
      </span>
    </EntryLink>
  );
}
