import type { proto } from '@whiskeysockets/baileys';
import {
  joinLines,
  labelledLine,
  moneyOf,
  type Reading,
  shortLine,
  toSafeInteger,
} from './reading.ts';

type Note = proto.IMessage | null | undefined;

/** The note attached to a payment, which is itself a text message. */
function paymentNote(note: Note): string {
  return note?.conversation || note?.extendedTextMessage?.text || '';
}

export function readPayment({ noteMessage }: proto.Message.ISendPaymentMessage): Reading {
  return { shown: labelledLine('Note', paymentNote(noteMessage)), unread: 'a payment' };
}

export function readPaymentRequest(request: proto.Message.IRequestPaymentMessage): Reading {
  const amount =
    moneyOf(request.amount1000, request.currencyCodeIso4217) ?? amountOf(request.amount);
  return {
    shown: joinLines(
      labelledLine('Amount', amount),
      labelledLine('Note', paymentNote(request.noteMessage)),
    ),
    unread: 'a request for a payment',
  };
}

/** Formats an amount; `offset` is the number of units per unit of currency. */
export function amountOf(money: proto.IMoney | null | undefined): string | undefined {
  const value = toSafeInteger(money?.value) ?? 0;
  if (value === 0) return undefined;
  const amount = value / (money?.offset || 1);
  return `${amount} ${shortLine(money?.currencyCode)}`.trim();
}

export function readInvoice({ note }: proto.Message.IInvoiceMessage): Reading {
  return { shown: labelledLine('Note', note), unread: 'an invoice' };
}
