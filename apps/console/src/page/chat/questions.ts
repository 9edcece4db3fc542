import type { Button } from '@parley/core';
import { useEffect, useMemo } from 'preact/hooks';
import type { WaitingApproval } from '../asked-call.tsx';
import { useDataScope, useOperation } from '../ui/data.tsx';
import { type ConversationEntry, findPressedButton } from './conversation.ts';

/** Pending calls, keyed by the code in their buttons. */
export type PendingQuestions = ReadonlyMap<string, WaitingApproval>;

const APPROVE = /^\/approve (\S+)$/;

/** The code of the call about which these buttons decide; null for other buttons. */
export function findApprovalCode(buttons: readonly Button[]): string | null {
  for (const { data } of buttons) {
    const code = APPROVE.exec(data)?.[1];
    if (code !== undefined) return code;
  }
  return null;
}

/**
 * The calls to which the questions in a chat refer. While a question is open, the calls are
 * requested again after every message. The message may be the question itself, or the result of a
 * decision made elsewhere.
 */
export function useQuestions(entries: readonly ConversationEntry[]): PendingQuestions {
  const open = listOpenCodes(entries).join(' ');
  const { refresh } = useDataScope();
  const known = useOperation('approvals/waiting', open === '' ? null : {}).value;
  useEffect(() => {
    if (known !== undefined) refresh();
  }, [open, entries.length]);
  return useMemo(() => {
    const codes = open.split(' ');
    const waiting = (known?.approvals ?? []).filter(({ code }) => codes.includes(code));
    return new Map(waiting.map((one) => [one.code, one]));
  }, [open, known]);
}

/** The codes of questions in the chat that have not been answered by a button press. */
function listOpenCodes(entries: readonly ConversationEntry[]): readonly string[] {
  return entries.flatMap((entry) => {
    const code = entry.kind === 'answer' ? findApprovalCode(entry.buttons) : null;
    return code === null || entry.kind !== 'answer' || findPressedButton(entry, entries) !== null
      ? []
      : code;
  });
}
