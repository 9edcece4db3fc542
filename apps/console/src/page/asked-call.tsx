import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRowAgents } from './agents.tsx';
import { conversationLabel } from './inbox/rows.ts';
import { hrefOf } from './route.ts';
import { momentOf, timeOfDay } from './ui/format.ts';
import { Diff, Said } from './ui/widgets.tsx';

/** A tool call waiting for a decision. */
export type WaitingApproval = OutputOf<'approvals/waiting'>['approvals'][number];
type ShownApproval = OutputOf<'approvals/list'>['approvals'][number];

/** The id of the owner in the page's own chat. */
const OWNER = 'web:owner';

interface AskedCallProps {
  readonly asked: WaitingApproval;
  /**
   * Whether the call is shown in the chat where the question was asked. The owner's request is
   * visible there, so it is not repeated.
   */
  readonly isInChat?: boolean;
}

/**
 * A call that needs a decision, in *Approvals* and in the chat: the complete call, with file
 * changes as a diff. Its texts come from people and models, so they are shown as plain text.
 */
export function AskedCall({ asked, isInChat = false }: AskedCallProps): VNode {
  const { tool, shown, text, diff, expiresAt, askedBy } = asked;
  const isSaidAbove = isInChat && askedBy === OWNER;
  return (
    <>
      <header>
        <b>May I use {tool}?</b>
        <span class="hint">expires at {timeOfDay(expiresAt)}</span>
      </header>
      {!isSaidAbove && <Origin asked={asked} />}
      {!isSaidAbove && text !== '' && (
        <Said as="blockquote" look="said">
          {text}
        </Said>
      )}
      {diff !== null && <Said look="facts">{fileOf(shown)}</Said>}
      {diff !== null && <Diff lines={diff} />}
      <Whole title="Full call" text={shown} isOpen={!isInChat || diff === null} />
    </>
  );
}

/** The lines of a file-changing call before the new text: the file, and who may read it. */
function fileOf(shown: string): string {
  return shown.split('\nwhole_file:')[0] ?? '';
}

/** The person who asked for the call, and the conversation. */
function Origin({ asked }: { readonly asked: WaitingApproval }): VNode {
  const agent = useRowAgents().titleOf(asked.conversationId);
  return (
    <p class="facts">
      {askerOf(asked)}
      {placeText(asked)}
      {asked.chat !== null && ` (${conversationLabel(asked.chat)})`}, {momentOf(asked.askedAt)}{' '}
      {agent !== null && `· ${agent} `}
      <a href={hrefOf('conversations', asked.conversationId)}>Conversation</a>
    </p>
  );
}

interface WholeProps {
  readonly title: string;
  readonly text: string;
  readonly isOpen?: boolean;
}

/** The full text of a decision, never truncated. */
export function Whole({ title, text, isOpen = true }: WholeProps): VNode {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <Said as="pre" look="layer-text">
        {text}
      </Said>
      {text.includes('\\u{') && (
        <p class="facts">
          {'\\u{…}'} stands for a character that is invisible or looks like another one.
        </p>
      )}
    </details>
  );
}

/** The name of the person who asked for a call. */
export function askerOf({ asker, askedBy, chat }: ShownApproval): string {
  return asker ?? (chat === null ? askedBy : 'The agent itself');
}

/** The chat, unless it has the same name as the person. */
export function placeText({ asker, chat }: ShownApproval): string {
  return chat === null || chat.title === asker ? '' : ` in ${chat.title}`;
}
