import type { ChannelState, HttpFacet } from '@parley/channels';

/**
 * The code that a phone has to scan, as a picture for the owner's web page: `code.svg` below the
 * account's web address, which only the owner may ask. It is a secret, so nothing keeps the picture,
 * and there is none once the account is linked.
 */
export class PairingCode implements HttpFacet {
  #code: string | undefined;

  /** Hears of every state of the account. */
  note(state: ChannelState): void {
    this.#code = state.kind === 'pairing' ? state.code : undefined;
  }

  async fetch(request: Request): Promise<Response> {
    const isPicture = new URL(request.url).pathname.endsWith('/code.svg');
    if (!isPicture || this.#code === undefined || request.method !== 'GET') {
      return new Response('There is no code to scan.\n', { status: 404 });
    }
    const { default: qrcode } = await import('qrcode');
    const picture = await qrcode.toString(this.#code, { type: 'svg', errorCorrectionLevel: 'L' });
    return new Response(picture, {
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
    });
  }
}
