import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { onTestFinished } from 'vitest';

type MediaHosting = Pick<WhatsAppDouble, 'media'>;

/** Makes this process trust the double's file server until the test ends. */
export function trustMedia(double: MediaHosting): void {
  onTestFinished(trustMediaUntilReverted(double));
}

/** Trusts the double's file server until the returned function is called. */
export function trustMediaUntilReverted({ media }: MediaHosting): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, media.certificate]);
  return () => setDefaultCACertificates(before);
}
