"""The vision transformer of InsightFace and CVLface."""
import math

from .layout import Layout, State, UnreadableNetwork

#: Heads of the published networks by (size of a token, blocks, size within the MLP): weights do not show them. All others have 8.
_HEADS = {(512, 24, 1536): 16}  # CVLface's base


def _backbone(dims: int, layers: int, hidden: int, size: int, patch: int, qkv_bias: bool) -> dict:
    arch = dict(embed_dims=dims, num_layers=layers, num_heads=_HEADS.get((dims, layers, hidden), 8), feedforward_channels=hidden)
    return dict(type='mmpretrain.VisionTransformer', arch=arch, img_size=size, patch_size=patch, out_type='featmap', with_cls_token=False,
                qkv_bias=qkv_bias, norm_cfg=dict(type='LN', eps=1e-5), patch_cfg=dict(padding=0),
                layer_cfgs=dict(act_cfg=dict(type='ReLU6')))  # yapf: disable


class ViT(Layout):
    """No class token, ReLU6, and an embedding layer over all tokens; mmpretrain's VisionTransformer with mmface's neck."""
    name = 'vit'
    project = 'InsightFace and CVLface (ViT)'
    telltale = 'blocks.0.attn.qkv.weight'
    optional = ('mask_token', )
    example = (_backbone(512, 24, 1536, 112, 8, False), dict(type='ViTNeck'))

    def describe(self, state: State) -> tuple[dict, dict, tuple[int, int]]:
        dims, _, patch, _ = state['patch_embed.proj.weight'].shape
        tokens = state['pos_embed'].shape[1]
        layers = sum(key.startswith('blocks.') and key.endswith('.attn.qkv.weight') for key in state)
        hidden = len(state['blocks.0.mlp.fc1.weight'])
        side = math.isqrt(tokens)
        if side * side != tokens:
            raise UnreadableNetwork(f'a ViT of {tokens} tokens, which are no square')
        size = 112 if 112 // patch == side else side * patch
        backbone = _backbone(dims, layers, hidden, size, patch, 'blocks.0.attn.qkv.bias' in state)
        return backbone, dict(type='ViTNeck', in_channels=dims, feat_size=side, out_channels=len(state['feature.2.weight'])), (size, size)

    def modules(self, backbone: dict, neck: dict) -> dict[str, str]:
        modules = {'patch_embed.proj': 'backbone.patch_embed.projection', 'pos_embed': 'backbone.pos_embed', 'norm': 'backbone.ln1',
                   'feature.0': 'neck.fc1', 'feature.1': 'neck.norm1', 'feature.2': 'neck.fc2', 'feature.3': 'neck.norm2'}  # yapf: disable
        parts = {'norm1': 'ln1', 'attn.qkv': 'attn.qkv', 'attn.proj': 'attn.proj', 'norm2': 'ln2', 'mlp.fc1': 'ffn.layers.0.0',
                 'mlp.fc2': 'ffn.layers.1'}  # yapf: disable
        for at in range(backbone['arch']['num_layers']):
            modules |= {f'blocks.{at}.{part}': f'backbone.layers.{at}.{own}' for part, own in parts.items()}
        return modules
