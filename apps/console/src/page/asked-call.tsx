import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useRowAgents } from './agents.tsx';
import { formatConversationLabel } from './inbox/rows.ts';
import { toHref } from './route.ts';
import { formatMoment, formatTimeOfDay } from './ui/format.ts';
import { DiffLines, OutsideText } from './ui/widgets.tsx';

/** A tool call waiting for a decision. */
export type WaitingApproval = OutputOf<'approvals/waiting'>['approvals'][number];
type ListedApproval = OutputOf<'approvals/list'>['approvals'][number];

/** The owner's id in the page's own chat. */
const OWNER = 'web:owner';

interface CallApprovalProps {
  readonly asked: WaitingApproval;
  /**
   * Whether this chat contains the question. The owner's request is visible in that chat, so it is
   * not repeated.
   */
  readonly isInChat?: boolean;
}

/**
 * A call that needs a decision, in *Approvals* and in the chat: the complete call, with file
 * changes shown as a diff. The text in a call is written by people and models, so it is shown as
 * plain text.
 */
export function CallApproval({ asked, isInChat = false }: CallApprovalProps): VNode {
  const { tool, shown, text, diff, expiresAt, askedBy } = asked;
  const isSaidAbove = isInChat && askedBy === OWNER;
  return (
    <>
      <header>
        <b>May I use {tool}?</b>
        <span class="hint">expires at {formatTimeOfDay(expiresAt)}</span>
      </header>
      {!isSaidAbove && <CallOrigin asked={asked} />}
      {!isSaidAbove && text !== '' && (
        <OutsideText as="blockquote" look="said">
          {text}
        </OutsideText>
      )}
      {diff !== null && <OutsideText look="facts">{getChangeHead(shown)}</OutsideText>}
      {diff !== null && <DiffLines lines={diff} />}
      <FullText title="Full call" text={shown} isOpen={!isInChat || diff === null} />
    </>
  );
}

/** In a call that changes a file, the lines before the new text: the file and its audience. */
function getChangeHead(shown: string): string {
  return shown.split('\nwhole_file:')[0] ?? '';
}

/** The person who asked for the call, and the conversation. */
function CallOrigin({ asked }: { readonly asked: WaitingApproval }): VNode {
  const agent = useRowAgents().titleOf(asked.conversationId);
  return (
    <p class="facts">
      {getRequesterName(asked)}
      {getChatLabel(asked)}
      {asked.chat !== null && ` (${formatConversationLabel(asked.chat)})`},{' '}
      {formatMoment(asked.askedAt)} {agent !== null && `· ${agent} `}
      <a href={toHref('conversations', asked.conversationId)}>Conversation</a>
    </p>
  );
}

interface FullTextProps {
  readonly title: string;
  readonly text: string;
  readonly isOpen?: boolean;
}

/** The full text of a decision, never truncated. */
export function FullText({ title, text, isOpen = true }: FullTextProps): VNode {
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <OutsideText as="pre" look="layer-text">
        {text}
      </OutsideText>
      {text.includes('\\u{') && (
        <p class="facts">
          {'\\u{…}'} stands for a character that is invisible or looks like another one.
        </p>
      )}
    </details>
  );
}

/** The name of the person who asked for a call. */
export function getRequesterName({ asker, askedBy, chat }: ListedApproval): string {
  return asker ?? (chat === null ? askedBy : 'The agent itself');
}

/** The chat, omitted if it has the same name as the person. */
export function getChatLabel({ asker, chat }: ListedApproval): string {
  return chat === null || chat.title === asker ? '' : ` in ${chat.title}`;
}
