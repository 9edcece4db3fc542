import type { WebChat } from '@parley/channels/web';
import { useEffect, useRef } from 'preact/hooks';
import { runOperation } from '../gateway.ts';
import { useDataScope } from '../ui/data.tsx';
import { dropBrowserMarks, readBrowserMarks } from './browser-marks.ts';
import type { ListedConversation } from './rows.ts';

const positionOf = ({ newest, newestPart }: ListedConversation): string =>
  `${newest} ${newestPart}`;

export function useMarkAsRead(shown: ListedConversation | undefined): void {
  const { refresh } = useDataScope();
  const position = shown?.isNew === true ? positionOf(shown) : null;
  useEffect(() => {
    if (shown === undefined || position === null) return;
    const { id, newest: message, newestPart: part } = shown;
    void runOperation('conversations/mark-read', { id, message, part }).then(refresh);
  }, [shown?.id, position]);
}

interface InitialInboxSources {
  /** Null until it is known who the reader is. */
  readonly list: {
    readonly conversations: readonly ListedConversation[];
    readonly isKnownReader: boolean;
  } | null;
  readonly chats: readonly WebChat[] | null;
}

/**
 * Creates a person's inbox on their first visit and transfers the marks stored in this browser,
 * which happens only once.
 */
export function useInitialInbox({ list, chats }: InitialInboxSources): void {
  const { refresh } = useDataScope();
  const isBegun = useRef(false);
  useEffect(() => {
    if (list === null || chats === null || isBegun.current) return;
    const { conversations, isKnownReader } = list;
    const kept = readBrowserMarks(localStorage, { conversations, chats });
    isBegun.current = true;
    if (kept === null && isKnownReader) return;
    void runOperation('conversations/begin-inbox', kept ?? {}).then((failed) => {
      // Marks that are refused stay in the browser, and the next visit tries again.
      if (failed === undefined) dropBrowserMarks(localStorage, chats);
      refresh();
    });
  }, [list === null, chats === null]);
}
