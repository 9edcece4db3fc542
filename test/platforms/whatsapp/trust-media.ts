import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { WhatsAppDouble } from './whatsapp-double.ts';

/** Makes this process trust the double's file server until the test ends. */
export function trustMedia({ media }: Pick<WhatsAppDouble, 'media'>): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, media.certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
}
