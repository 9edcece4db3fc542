import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRowAgents } from '../agents.tsx';
import { toHref } from '../route.ts';
import { formatCounted } from '../ui/format.ts';
import { EntryLink } from '../ui/frames.tsx';
import { useGrowingList } from '../ui/growing.ts';
import { DataContent, List, OlderButton } from '../ui/widgets.tsx';
import { hasAllWords, highlightMatches } from './highlight.ts';
import { toRowHref } from './row-links.tsx';
import type { InboxRow } from './rows.ts';

/**
 * A conversation that can be found by its title; for older ones, the time and channel are unknown.
 */
export type TitledConversation = Pick<InboxRow, 'id' | 'chat' | 'title'> &
  Partial<Pick<InboxRow, 'at' | 'place'>>;

type SearchResponse = OutputOf<'conversations/search'>;
type SearchHit = SearchResponse['hits'][number];

/** How often a search is repeated while the index is being built, in ms. */
const GOES_ON_MS = 500;

interface ResultsProps {
  readonly asked: string;
  /** The conversations whose titles are searched as well. */
  readonly titled: readonly TitledConversation[];
  /** The message shown beside the search results. */
  readonly chosen: string;
}

/** The messages and answers that contain all words, newest first. */
export function SearchResults({ asked, titled, chosen }: ResultsProps): VNode {
  const again = (answer: SearchResponse | undefined) => (answer?.missing ? GOES_ON_MS : undefined);
  const keyOf = ({ message }: SearchHit): string => message;
  const data = useGrowingList(
    'conversations/search',
    { words: asked },
    again,
    toSearchResultPage,
    keyOf,
  );
  const { isShown } = useRowAgents();
  const hits = (data.value ?? [])
    .filter(({ conversationId }) => isShown(conversationId))
    .sort((a, b) => b.at - a.at);
  const named = titled.filter(({ title }) => hasAllWords(title, asked));
  const titles = new Map(titled.map(({ id, title }) => [id, title]));
  return (
    <DataContent data={data}>
      {() => (
        <nav class="inbox-rows" aria-label="Search results">
          <p class="nothing" role="status">
            {hits.length === 0 && named.length === 0
              ? 'No results'
              : formatCounted(hits.length + named.length, 'result')}
          </p>
          <List of={named}>
            {(row) => (
              <EntryLink
                key={row.id}
                href={toRowHref(row)}
                title={<HighlightedText text={row.title} asked={asked} />}
                at={row.at}
                facts={row.place ?? ''}
                isChosen={false}
              />
            )}
          </List>
          <List of={hits}>
            {(hit) => (
              <SearchResultLink
                key={hit.message}
                hit={hit}
                title={titles.get(hit.conversationId) ?? hit.title}
                asked={asked}
                isChosen={hit.message === chosen}
              />
            )}
          </List>
          <OlderButton label="Older results" older={data.older} />
        </nav>
      )}
    </DataContent>
  );
}

/** Text with the search words marked. */
function HighlightedText({
  text,
  asked,
}: {
  readonly text: string;
  readonly asked: string;
}): VNode {
  return (
    <>
      {highlightMatches(text, asked).map(({ text: piece, isHit }, nth) =>
        isHit ? <mark key={nth}>{piece}</mark> : piece,
      )}
    </>
  );
}

function toSearchResultPage({ hits: items, next }: SearchResponse) {
  return { items, next };
}

interface HitProps {
  readonly hit: SearchHit;
  /** The title of the message's conversation in the inbox. */
  readonly title: string;
  readonly asked: string;
  readonly isChosen: boolean;
}

function SearchResultLink({ hit, title, asked, isChosen }: HitProps): VNode {
  const { conversationId, message, at, direction, from, excerpt } = hit;
  const agent = useRowAgents().titleOf(conversationId);
  return (
    <EntryLink
      href={toHref('conversations', conversationId, 'at', message, String(at))}
      title={title}
      at={at}
      facts={direction === 'out' ? `Answer${agent === null ? '' : ` of ${agent}`}` : (from ?? '')}
      isChosen={isChosen}
    >
      <span class="excerpt" dir="auto">
        <HighlightedText text={excerpt} asked={asked} />
      </span>
    </EntryLink>
  );
}
