import { describe, expect, it } from '@jest/globals';
import { loadForNode } from '../../testing/console/loadForNode.ts';

// Translators put elements of their own in the place of texts.
describe('a text of the pages', () => {
  it('is alone in its element, so that no old number stays beside it', async () => {
    const { drawn } = await loadForNode<{ drawn: string[] }>(`
      import { renderToStaticMarkup } from 'react-dom/server';
      export const drawn = [
        <p>You have {7} credits</p>,
        <p>You have <b>{7}</b> credits</p>,
        <>alone</>,
        <p><i /> {null}{false}<i /></p>,
      ].map((element) => renderToStaticMarkup(element));
    `);
    expect(drawn).toEqual([
      '<p>You have 7 credits</p>',
      '<p><span>You have </span><b>7</b><span> credits</span></p>',
      '<span>alone</span>',
      '<p><i></i> <i></i></p>',
    ]);
  });
});
