import type { proto } from '@whiskeysockets/baileys';
import {
  formatLabeledLine,
  formatMoney,
  joinLines,
  type KindContent,
  shortenToLine,
  toSafeInteger,
} from './reading.ts';

type NoteMessage = proto.IMessage | null | undefined;

/** The note on a payment, which is itself a text message. */
function renderPaymentNote(note: NoteMessage): string {
  return note?.conversation || note?.extendedTextMessage?.text || '';
}

export function readPayment({ noteMessage }: proto.Message.ISendPaymentMessage): KindContent {
  return { shown: formatLabeledLine('Note', renderPaymentNote(noteMessage)), unread: 'a payment' };
}

export function readPaymentRequest(request: proto.Message.IRequestPaymentMessage): KindContent {
  const amount =
    formatMoney(request.amount1000, request.currencyCodeIso4217) ?? formatAmount(request.amount);
  return {
    shown: joinLines(
      formatLabeledLine('Amount', amount),
      formatLabeledLine('Note', renderPaymentNote(request.noteMessage)),
    ),
    unread: 'a request for a payment',
  };
}

/** Formats an amount; `offset` is the number of stored units per unit of currency. */
export function formatAmount(money: proto.IMoney | null | undefined): string | undefined {
  const value = toSafeInteger(money?.value) ?? 0;
  if (value === 0) return undefined;
  const amount = value / (money?.offset || 1);
  return `${amount} ${shortenToLine(money?.currencyCode)}`.trim();
}

export function readInvoice({ note }: proto.Message.IInvoiceMessage): KindContent {
  return { shown: formatLabeledLine('Note', note), unread: 'an invoice' };
}
