import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { onTestFinished } from 'vitest';

/** Makes this process trust the double's file server until the test ends. */
export function trustMedia({ media }: Pick<WhatsAppDouble, 'media'>): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, media.certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
}
