import type { PromptSummary } from '@parley/store';
import type { VNode } from 'preact';
import { type Route, toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount, formatMoment } from '../ui/format.ts';
import { SplitView } from '../ui/frames.tsx';
import { DataContent } from '../ui/widgets.tsx';
import { ComparisonView } from './comparison.tsx';
import { PromptLayers } from './layers.tsx';
import { PreviewSheet } from './preview.tsx';
import { getChatName, TurnList, useTurns } from './turn-list.tsx';

/**
 * The prompts of all turns (P17): `#/prompt/TURN`, `#/prompt/TURN/against/EARLIER`, `#/preview`.
 * All of their text is shown as plain text, never as HTML.
 */
export function PromptView({ view, args: [turn = '', word, earlier = ''] }: Route): VNode {
  const { data, turns } = useTurns();
  const isPreview = view === 'preview';
  const chosen = turn || turns[0]?.turnId;
  const against = word === 'against' && earlier !== '' ? earlier : null;
  return (
    <SplitView
      name="prompts"
      title="Prompts"
      label="Turns"
      showsList={!isPreview && turn === ''}
      list={
        <>
          <a class="quiet" href={toHref('preview')} aria-current={isPreview ? 'true' : undefined}>
            Preview…
          </a>
          <DataContent data={data}>
            {() => (
              <TurnList
                view="prompt"
                turns={turns}
                chosen={isPreview ? undefined : chosen}
                older={data.older}
              />
            )}
          </DataContent>
        </>
      }
      back={toHref('prompt')}
    >
      {isPreview && <PreviewSheet />}
      {!isPreview && chosen && (
        <RecordedTurnView key={chosen} turnId={chosen} against={against} turns={turns} />
      )}
    </SplitView>
  );
}

interface TurnProps {
  readonly turnId: string;
  readonly against: string | null;
  readonly turns: readonly PromptSummary[];
}

function RecordedTurnView({ turnId, against, turns }: TurnProps): VNode {
  const data = useOperation('prompts/show', { turn: turnId });
  const turn = data.value;
  return (
    <>
      {turn && <TurnHead turn={turn} />}
      {turn && <CompareChoice turn={turn} turns={turns} against={against} />}
      {against === null ? (
        <DataContent data={data}>
          {(prompt) => (
            <div class="sheet">
              <PromptLayers request={prompt} />
            </div>
          )}
        </DataContent>
      ) : (
        <TurnComparison turnId={turnId} against={against} />
      )}
    </>
  );
}

function TurnComparison({
  turnId,
  against,
}: {
  readonly turnId: string;
  readonly against: string;
}): VNode {
  const data = useOperation('prompts/compare', { before: against, after: turnId });
  return (
    <DataContent data={data}>
      {(comparison) => <ComparisonView comparison={comparison} />}
    </DataContent>
  );
}

function TurnHead({ turn }: { readonly turn: PromptSummary }): VNode {
  const { at, place, layout, model, tokens, characters, answeredBy } = turn;
  const { personName, personId, channel, account } = place;
  return (
    <header class="entry-head">
      <h2 class="title">{getChatName(turn)}</h2>
      <p>
        {formatMoment(at)} · {personName} ({personId}) · {channel}/{account}
      </p>
      {answeredBy !== undefined && <p>{answeredBy}</p>}
      <p>
        <b>{formatAmount(tokens)} tokens</b> in {formatAmount(characters)} characters · layout{' '}
        {layout} · {model}
      </p>
      <p class="entry-id">{turn.turnId}</p>
      <p>
        <a href={toHref('replay', turn.turnId)}>Replay</a>
      </p>
    </header>
  );
}

/** Selects an earlier turn for comparison; turns in the same chat come first. */
function CompareChoice(props: Omit<TurnProps, 'turnId'> & { turn: PromptSummary }) {
  const { turn, turns, against } = props;
  const others = turns.filter(({ turnId }) => turnId !== turn.turnId);
  if (others.length === 0 && against === null) return null;
  const isHere = (other: PromptSummary): boolean => other.conversationId === turn.conversationId;
  const compareWith = (other: string): void => {
    location.hash = toHref('prompt', turn.turnId, ...(other === '' ? [] : ['against', other]));
  };
  const option = (other: PromptSummary): VNode => (
    <option key={other.turnId} value={other.turnId}>
      {formatMoment(other.at)} · {getChatName(other)} · {formatAmount(other.tokens)} tokens
    </option>
  );
  const isListed = others.some(({ turnId }) => turnId === against);
  return (
    <label class="row facts">
      <span>Compare with</span>
      <select
        class="field"
        value={against ?? ''}
        onChange={({ currentTarget }) => compareWith(currentTarget.value)}
      >
        <option value="">nothing</option>
        {against !== null && !isListed && <option value={against}>{against}</option>}
        <optgroup label="This chat">{others.filter(isHere).map(option)}</optgroup>
        <optgroup label="Other chats">
          {others.filter((other) => !isHere(other)).map(option)}
        </optgroup>
      </select>
    </label>
  );
}
